//! Scales and minima of one block per lane, in f32 and in half precision.

use crate::generic::ggml::extremes::{Reduce, largest, ranges};
use crate::generic::registers::Registers;
use crate::lanes::Lanes;

/// One f32 per block, for `N` blocks.
pub(crate) struct Each<const N: usize>([f32; N]);

impl<const N: usize> Each<N> {
    #[inline(always)]
    pub(crate) fn new<I: Registers<N>>(isa: I, numbers: I::F) -> Self {
        let mut each = [0.0; N];
        isa.put_floats(numbers, &mut each);
        Self(each)
    }

    /// Computes `1 / scale`, or 0 for a scale of 0.
    #[inline(always)]
    pub(crate) fn inverse<I: Registers<N>>(isa: I, scales: I::F) -> Self {
        let zero = isa.splat(0.0);
        Self::new(isa, I::F::select(scales.ne(zero), isa.splat(1.0) / scales, zero))
    }

    /// Returns the number of block `i`.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> f32 {
        self.0[i]
    }
}

/// One stored half-precision number per block, for `N` blocks.
pub(crate) struct Halves<const N: usize>([u16; N]);

impl<const N: usize> Halves<N> {
    #[inline(always)]
    pub(crate) fn new<I: Registers<N>>(isa: I, numbers: I::F) -> Self {
        let mut halves = [0; N];
        isa.put_halves(numbers, &mut halves);
        Self(halves)
    }

    /// Returns the bytes of block `i`.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> [u8; 2] {
        self.0[i].to_le_bytes()
    }
}

/// Scales and minima of `N` blocks with codes of `BITS` bits: inverses for encoding, halves for storage.
pub(crate) struct Affine<const N: usize> {
    halves: Halves<N>,
    pub(crate) inverses: Each<N>,
    min_halves: Halves<N>,
    pub(crate) mins: Each<N>,
}

impl<const N: usize> Affine<N> {
    /// Writes the head of block `i`, which is the scale, the minimum unless codes are `CENTERED`, and the fifth bits if
    /// codes have five. Returns the rest of the block: 16 bytes of nibbles.
    #[inline(always)]
    pub(crate) fn write_head<'a, const BYTES: usize, const BITS: u32, const CENTERED: bool>(
        &self,
        i: usize,
        fifths: u32,
        block: &'a mut [u8; BYTES],
    ) -> Option<&'a mut [u8; 16]> {
        let (head, nibbles) = block.split_at_mut(BYTES - 16);
        head[..2].copy_from_slice(&self.halves.of(i));
        if !CENTERED {
            head[2..4].copy_from_slice(&self.min_halves.of(i));
        }
        if BITS == 5 {
            head[BYTES - 20..].copy_from_slice(&fifths.to_le_bytes());
        }
        nibbles.first_chunk_mut()
    }
}

/// Computes the scales of `N` blocks. Codes are `CENTERED` at zero or relative to a stored minimum.
#[inline(always)]
pub(crate) fn affine<const BITS: u32, const CENTERED: bool, I: Reduce<N>, const N: usize>(
    isa: I,
    blocks: &[[f32; 32]; N],
) -> Affine<N> {
    let (scales, mins) = if CENTERED {
        // Multiplying by a power of two is as exact as the reference's division by one.
        let share = -1.0 / (1 << (BITS - 1)) as f32;
        (largest(isa, blocks) * isa.splat(share), isa.splat(0.0))
    } else {
        let [min, max] = ranges(isa, blocks);
        let last = ((1 << BITS) - 1) as f32;
        ((max - min) / isa.splat(last), min)
    };
    Affine {
        halves: Halves::new(isa, scales),
        inverses: Each::inverse(isa, scales),
        min_halves: Halves::new(isa, mins),
        mins: Each::new(isa, mins),
    }
}
