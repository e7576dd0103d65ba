//! Sums of four products of bytes with one instruction. All other kernels but checksums are those of NEON.

use core::arch::aarch64::{int32x4_t, uint8x16_t, vdupq_n_s32, vreinterpretq_u8_s32, vreinterpretq_u32_s32};
use core::arch::asm;

use bitgrain_isa::dotprod;

use crate::aarch64::neon::{FourIntegers, Neon};
use crate::generic::registers::proven;
use crate::narrow::register::ByteProducts;
use crate::narrow::{dot, product, score_rows};
use crate::product::{FloatLine, Strips, Tile};
use crate::search::RowQuery;

/// Proof that the CPU has the instruction.
#[derive(Clone, Copy)]
pub(super) struct Dotprod(());

impl Dotprod {
    #[inline]
    #[dotprod]
    pub(super) fn new() -> Self {
        Self(())
    }
}

#[dotprod]
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i64 {
    dot::dot_i8(Neon::new(), Dotprod::new(), a, b)
}

#[dotprod]
pub(crate) fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], out: &mut [FloatLine]) {
    product::multiply_strips(Neon::new(), Dotprod::new(), strips, tiles, out);
}

#[dotprod]
pub(crate) fn score_rows(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    score_rows::score_rows(Neon::new(), Dotprod::new(), query, bytes, rows, out);
}

crate::generic::planes::plane_kernels!(dotprod, Neon, Dotprod, 4);

impl ByteProducts<Neon> for Dotprod {
    type Sums = int32x4_t;

    #[inline(always)]
    fn zero(self) -> int32x4_t {
        proven!(vdupq_n_s32(0))
    }

    #[inline(always)]
    fn add(self, sums: int32x4_t, a: uint8x16_t, b: uint8x16_t) -> int32x4_t {
        proven!(sdot(sums, a, b))
    }

    #[inline(always)]
    fn add_four(self, sums: int32x4_t, a: uint8x16_t, four: i32) -> int32x4_t {
        proven!(sdot_four(sums, a, four))
    }

    #[inline(always)]
    fn sums(self, sums: int32x4_t) -> FourIntegers {
        FourIntegers(proven!(vreinterpretq_u32_s32(sums)))
    }
}

/// Uses inline assembly, because the intrinsic is not stable.
#[inline]
#[dotprod]
fn sdot(mut sums: int32x4_t, a: uint8x16_t, b: uint8x16_t) -> int32x4_t {
    // SAFETY: computes with registers and does not access memory; the attribute requires the instruction.
    unsafe {
        asm!(
            "sdot {0:v}.4s, {1:v}.16b, {2:v}.16b",
            inout(vreg) sums,
            in(vreg) a,
            in(vreg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}

#[inline]
#[dotprod]
fn sdot_four(sums: int32x4_t, a: uint8x16_t, four: i32) -> int32x4_t {
    sdot(sums, a, vreinterpretq_u8_s32(vdupq_n_s32(four)))
}
