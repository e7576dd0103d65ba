//! `bitpacking`: blocks of 128 (4x, SSE3) or 256 (8x, AVX2) u32 in an interleaved layout, selected at run time.

use ::bitpacking::BitPacker;

use crate::buffer::Buffer;

/// Number of integers per pass: 16 KiB of u32, which fit in L1 as the byte codes do.
const IN_CACHE: usize = 4096;

/// A packer with 16 KiB of integers, over which it passes until it has processed the requested number of codes.
pub(crate) struct Packing<P> {
    packer: P,
    bits: u8,
    passes: usize,
    integers: Buffer<u32>,
    packed: Buffer<u8>,
    back: Buffer<u32>,
}

impl<P: BitPacker> Packing<P> {
    /// Panics unless a round trip returns the codes.
    pub(crate) fn new(bits: u8, codes: &[u16]) -> Self {
        let kept = &codes[..IN_CACHE.min(codes.len())];
        assert!(kept.len().is_multiple_of(P::BLOCK_LEN) && codes.len().is_multiple_of(kept.len()));
        let mut packing = Self {
            packer: P::new(),
            bits,
            passes: codes.len() / kept.len(),
            integers: Buffer::from_values(kept.iter().map(|&code| u32::from(code))),
            packed: Buffer::new(kept.len() * usize::from(bits) / 8),
            back: Buffer::new(kept.len()),
        };
        packing.pack();
        packing.unpack();
        assert!(*packing.integers == *packing.back, "bitpacking at {bits} bits: unpacked codes differ");
        packing
    }

    pub(crate) fn pack(&mut self) {
        let stride = P::BLOCK_LEN * usize::from(self.bits) / 8;
        for _ in 0..self.passes {
            for (block, out) in self.integers.chunks_exact(P::BLOCK_LEN).zip(self.packed.chunks_exact_mut(stride)) {
                self.packer.compress(block, out, self.bits);
            }
        }
    }

    pub(crate) fn unpack(&mut self) {
        let stride = P::BLOCK_LEN * usize::from(self.bits) / 8;
        for _ in 0..self.passes {
            for (block, out) in self.packed.chunks_exact(stride).zip(self.back.chunks_exact_mut(P::BLOCK_LEN)) {
                self.packer.decompress(block, out, self.bits);
            }
        }
    }
}
