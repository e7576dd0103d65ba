//! Buffers for weights, blocks and dequantized weights, shared by all contenders so that they use the same pages.

use bitgrain::kernels::Backend;
use bitgrain::kernels::ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};

use super::ROW;
use crate::buffer::Buffer;
use crate::data;
use crate::rival::Blocks;
use crate::rival::ggml::Ggml;

/// Buffers for a number of weights.
pub(super) struct Memory {
    pub(super) values: Buffer<f32>,
    pub(super) blocks: Buffer<u8>,
    pub(super) back: Buffer<f32>,
    /// candle's blocks of the current format.
    pub(super) candle: Option<Box<dyn Blocks>>,
}

impl Memory {
    pub(super) fn new(count: usize) -> Self {
        let most = GgmlBlock::ALL.into_iter().filter_map(|block| block.bytes_of(count)).max().unwrap_or(0);
        Self { values: data::normal(count), blocks: Buffer::new(most), back: Buffer::new(count), candle: None }
    }

    /// Returns the size of the values in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.values)
    }

    /// Copies the values with `memcpy`.
    pub(super) fn copy(&mut self) {
        self.back.copy_from_slice(&self.values);
    }

    pub(super) fn quantize(&mut self, block: GgmlBlock) {
        quantize_ggml(Backend::best(), block, &self.values, ROW, None, &mut self.blocks).expect("whole rows, room");
    }

    pub(super) fn dequantize(&mut self, block: GgmlBlock) {
        dequantize_ggml(Backend::best(), block, &self.blocks, &mut self.back).expect("whole blocks, room");
    }

    /// Panics unless blocks and values equal those of ggml, or of the scalar backend without ggml. The buffers then
    /// hold our blocks and candle's.
    pub(super) fn check(&mut self, block: GgmlBlock, ggml: Option<&Ggml>) {
        self.quantize(block);
        self.dequantize(block);
        let len = block.bytes_of(self.values.len()).expect("whole blocks");
        let (mut blocks, mut back) = (vec![0; len], vec![0.0; self.values.len()]);
        if let Some(ggml) = ggml {
            ggml.quantize(block, &self.values, ROW, &mut blocks);
            ggml.dequantizer(block).run(&blocks, &mut back);
        } else {
            let scalar = Backend::scalar();
            quantize_ggml(scalar, block, &self.values, ROW, None, &mut blocks).expect("whole rows, room");
            dequantize_ggml(scalar, block, &blocks, &mut back).expect("whole blocks, room");
        }
        assert!(self.blocks[..len] == blocks[..], "{}: blocks differ from the reference", block.name());
        let same = self.back.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{}: values differ from the reference", block.name());
        self.candle = candle(block, &self.values);
    }
}

/// Quantizes the values with candle.
#[cfg(feature = "candle")]
fn candle(block: GgmlBlock, values: &[f32]) -> Option<Box<dyn Blocks>> {
    let mut blocks = crate::rival::candle::blocks(block, values.len())?;
    blocks.quantize(values);
    Some(blocks)
}

#[cfg(not(feature = "candle"))]
fn candle(_block: GgmlBlock, _values: &[f32]) -> Option<Box<dyn Blocks>> {
    None
}
