//! Buffers for values, blocks and decoded values, shared by all contenders so that they use the same pages.

use bitgrain::kernels::blocks::{blocks_len, decode_blocks, encode_blocks};
use bitgrain::kernels::{Backend, BitWidth};

use super::BLOCK;
use crate::buffer::Buffer;
use crate::data;
use crate::rival::ruvector::Ruvector;

/// Buffers for a number of values.
pub(super) struct Memory {
    pub(super) values: Buffer<f32>,
    pub(super) blocks: Buffer<u8>,
    pub(super) back: Buffer<f32>,
    pub(super) ruvector: Ruvector,
}

impl Memory {
    pub(super) fn new(count: usize) -> Self {
        Self {
            values: data::normal(count),
            blocks: Buffer::new(blocks_len(BitWidth::W8, BLOCK, count)),
            back: Buffer::new(count),
            ruvector: Ruvector::default(),
        }
    }

    /// Returns the size of the values in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.values)
    }

    /// Copies the values with `memcpy`.
    pub(super) fn copy(&mut self) {
        self.back.copy_from_slice(&self.values);
    }

    pub(super) fn encode(&mut self, backend: Backend, width: BitWidth) {
        encode_blocks(backend, width, BLOCK, &self.values, &mut self.blocks).expect("values are finite, blocks fit");
    }

    pub(super) fn decode(&mut self, backend: Backend, width: BitWidth) {
        decode_blocks(backend, width, BLOCK, &self.blocks, &mut self.back).expect("blocks were encoded here");
    }

    /// Panics unless every backend returns the same blocks and values as the scalar one, and the values are close to
    /// the input. The buffers then hold the blocks of `width`.
    pub(super) fn check(&mut self, width: BitWidth) {
        self.encode(Backend::scalar(), width);
        self.decode(Backend::scalar(), width);
        let blocks = self.blocks.to_vec();
        let back = self.back.to_vec();
        for (values, back) in self.values.chunks(BLOCK.get()).zip(back.chunks(BLOCK.get())) {
            let largest = values.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
            let bound = largest / f32::from(width.qmax()) * 0.50001;
            let close = values.iter().zip(back).all(|(v, b)| (v - b).abs() <= bound);
            assert!(close, "{width:?}: a value is off by more than half a step");
        }
        for &backend in Backend::available() {
            self.blocks.fill(0xA5);
            self.back.fill(f32::NAN);
            self.encode(backend, width);
            self.decode(backend, width);
            let len = blocks_len(width, BLOCK, back.len());
            assert!(self.blocks[..len] == blocks[..len], "{backend} {width:?}: blocks differ from scalar");
            let same = self.back.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{backend} {width:?}: values differ from scalar");
        }
    }
}
