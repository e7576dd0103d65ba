//! FP8 and FP4 conversions, one register at a time: the scalar rule with selects instead of branches.

use crate::generic::registers::{Integers, Registers};
use crate::lanes::Lanes;
use crate::minifloat::Minifloat;
use crate::scalar;

#[inline(always)]
pub(crate) fn minifloat_from_f32<F: Minifloat, I: Registers<N>, const N: usize>(
    isa: I,
    values: &[f32],
    out: &mut [u8],
) {
    let (chunks, rest) = values.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        isa.put_bytes(narrowed::<F, I, N>(isa, isa.floats(values)), out);
    }
    scalar::minifloat_from_f32::<F>(rest, out_rest);
}

#[inline(always)]
fn narrowed<F: Minifloat, I: Registers<N>, const N: usize>(isa: I, values: I::F) -> I::I {
    let sign = isa.bits(values).shr(32 - F::BITS).and(isa.integer(F::SIGN));
    // `min` returns its argument for NaN; the code is replaced at the end.
    let magnitude = values.abs().min(isa.splat(F::MAX));
    let bits = isa.bits(magnitude);
    let odd = bits.shr(F::SHIFT).and(isa.integer(1));
    // Half a unit minus one, plus the lowest kept bit: rounds to nearest, ties to even.
    let rounded = (bits + isa.integer((1 << (F::SHIFT - 1)) - 1)) + odd;
    let normal = rounded.shr(F::SHIFT) - isa.integer(F::REBIAS);
    let subnormal = isa.bits(magnitude + isa.splat(F::SUBNORMAL_MAGIC)).and(isa.integer(F::SIGN - 1));
    // Adding the constant aligns a subnormal to the format's step; normal numbers use the integer rounding above.
    let is_small = isa.splat(F::MIN_NORMAL).gt(magnitude);
    let code = I::I::select(is_small, subnormal, normal).or(sign);
    let nan_code = if F::NAN == 0 { isa.integer(0) } else { sign.or(isa.integer(F::NAN)) };
    I::I::select(values.ne(values), nan_code, code)
}

#[inline(always)]
pub(crate) fn minifloat_to_f32<F: Minifloat, I: Registers<N>, const N: usize>(isa: I, codes: &[u8], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        isa.put_floats(widened::<F, I, N>(isa, isa.bytes(codes)), out);
    }
    scalar::minifloat_to_f32::<F>(rest, out_rest);
}

#[inline(always)]
pub(crate) fn widened<F: Minifloat, I: Registers<N>, const N: usize>(isa: I, codes: I::I) -> I::F {
    let sign = codes.and(isa.integer(F::SIGN)).shl(32 - F::BITS);
    let magnitude = codes.and(isa.integer(F::SIGN - 1));
    let normal = (magnitude + isa.integer(F::REBIAS)).shl(F::SHIFT);
    let steps = isa.bits(isa.to_floats(magnitude) * isa.splat(F::STEP));
    let mut bits = I::I::select(isa.integer(1 << F::MANTISSA).gt(magnitude), steps, normal);
    if F::NAN != 0 {
        let special = magnitude.gt(isa.integer(F::INFINITY.unwrap_or(F::NAN) - 1));
        bits = I::I::select(special, isa.integer(0x7FC0_0000), bits);
    }
    if let Some(infinity) = F::INFINITY {
        bits = I::I::select(magnitude.eq(isa.integer(infinity)), isa.integer(0x7F80_0000), bits);
    }
    isa.floats_of_bits(bits.or(sign))
}
