//! Products of matrices of 2 by 8 bytes with one instruction, for tiles of at least four rows. All other kernels are those
//! of `dotprod`.

use core::arch::aarch64::*;
use core::arch::asm;

use bitgrain_isa::i8mm;

use crate::aarch64::dotprod::Dotprod;
use crate::aarch64::neon::{FourIntegers, Neon};
use crate::generic::registers::Bytes;
use crate::generic::registers::proven;
use crate::narrow::product::{self, Block};
use crate::narrow::register::ByteProducts;
use crate::product::{FloatLine, Strips, Tile};

/// Proof that the CPU has the instruction.
#[derive(Clone, Copy)]
struct I8mm(Dotprod);

#[i8mm]
pub(crate) fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], out: &mut [FloatLine]) {
    product::multiply_strips(Neon::new(), I8mm(Dotprod::new()), strips, tiles, out);
}

impl ByteProducts<Neon> for I8mm {
    type Sums = int32x4_t;

    #[inline(always)]
    fn zero(self) -> int32x4_t {
        self.0.zero()
    }

    #[inline(always)]
    fn add(self, sums: int32x4_t, a: uint8x16_t, b: uint8x16_t) -> int32x4_t {
        self.0.add(sums, a, b)
    }

    #[inline(always)]
    fn add_four(self, sums: int32x4_t, a: uint8x16_t, four: i32) -> int32x4_t {
        self.0.add_four(sums, a, four)
    }

    #[inline(always)]
    fn sums(self, sums: int32x4_t) -> FourIntegers {
        self.0.sums(sums)
    }

    #[inline(always)]
    fn block_sums<const LINES: usize, const W: usize, const N: usize>(
        self,
        isa: Neon,
        block: Block<'_, LINES, W>,
        quarter: usize,
        first: usize,
    ) -> [FourIntegers; N] {
        if N != 4 {
            return product::block_sums(isa, self.0, block, quarter, first);
        }
        proven!(four_rows(isa, block, quarter, first))
    }
}

/// Computes the sums of four rows of a tile, eight columns at a time.
#[inline]
#[i8mm]
fn four_rows<const LINES: usize, const W: usize, const N: usize>(
    isa: Neon,
    block: Block<'_, LINES, W>,
    quarter: usize,
    first: usize,
) -> [FourIntegers; N] {
    // Element `[a][b]` has the sums of rows `2 * a` and `2 * a + 1` of the tile with rows `2 * b` and `2 * b + 1` of the
    // quarter.
    let mut sums = [[vdupq_n_s32(0); 2]; 2];
    for eight in 0..4 {
        let [even, odd] = [0, 1].map(|i| {
            let line = isa.codes8(&block.lines[(2 * eight + i) % LINES].0.as_chunks().0[quarter]);
            if LINES == 8 {
                // Flipping the top bit makes the stored code the signed weight.
                veorq_u8(line, vdupq_n_u8(0x80))
            } else if eight < 2 {
                vandq_u8(line, vdupq_n_u8(15))
            } else {
                vshrq_n_u8::<4>(line)
            }
        });
        // Eight columns of one row side by side: those of rows 0 and 1, and those of rows 2 and 3.
        let (even, odd) = (vreinterpretq_u32_u8(even), vreinterpretq_u32_u8(odd));
        let weights = [vzip1q_u32(even, odd), vzip2q_u32(even, odd)];
        for (pair, sums) in sums.iter_mut().enumerate() {
            let [a, b] = [0, 1].map(|i| eight_codes(&block.codes[first + 2 * pair + i], eight));
            let activations = vcombine_s32(a, b);
            for (sums, weights) in sums.iter_mut().zip(weights) {
                *sums = smmla(*sums, weights, activations);
            }
        }
    }
    let mut totals = [FourIntegers(vdupq_n_u32(0)); N];
    for (pair, sums) in sums.into_iter().enumerate() {
        let rows = [vuzp1q_s32(sums[0], sums[1]), vuzp2q_s32(sums[0], sums[1])];
        for (i, sums) in rows.into_iter().enumerate() {
            // 4-bit weights are stored with an offset; `zeros` removes its product with the sum of the activations.
            let zeros = if LINES == 4 { block.zeros[first + 2 * pair + i] } else { 0 };
            totals[2 * pair + i] = FourIntegers(vreinterpretq_u32_s32(vaddq_s32(sums, vdupq_n_s32(zeros))));
        }
    }
    totals
}

/// Loads the codes of columns `8 * eight` to `8 * eight + 7`.
#[inline]
#[i8mm]
fn eight_codes(codes: &[i32; 8], eight: usize) -> int32x2_t {
    // SAFETY: the chunk has 8 readable bytes; `vld1` needs no more alignment than an i32.
    unsafe { vld1_s32(codes.as_chunks::<2>().0[eight].as_ptr()) }
}

/// Uses inline assembly, because the intrinsic is not stable.
#[inline]
#[i8mm]
fn smmla(mut sums: int32x4_t, a: uint32x4_t, b: int32x4_t) -> int32x4_t {
    // SAFETY: computes with registers and does not access memory; the attribute requires the instruction.
    unsafe {
        asm!(
            "smmla {0:v}.4s, {1:v}.16b, {2:v}.16b",
            inout(vreg) sums,
            in(vreg) a,
            in(vreg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}
