//! Half precision and bfloat16 conversions, one register at a time.

use crate::generic::registers::{Integers, Registers};
use crate::lanes::Lanes;
use crate::scalar;

#[inline(always)]
pub(crate) fn f16_from_f32<I: Registers<N>, const N: usize>(isa: I, values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        isa.put_halves(isa.floats(values), out);
    }
    scalar::f16_from_f32(rest, out_rest);
}

#[inline(always)]
pub(crate) fn f16_to_f32<I: Registers<N>, const N: usize>(isa: I, codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        isa.put_floats(isa.halves(codes), out);
    }
    scalar::f16_to_f32(rest, out_rest);
}

/// Uses integer arithmetic even where a conversion instruction exists: that of AVX512_BF16 flushes subnormals to zero.
#[inline(always)]
pub(crate) fn bf16_from_f32<I: Registers<N>, const N: usize>(isa: I, values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        let values = isa.floats(values);
        let bits = isa.bits(values);
        let upper = bits.shr(16);
        let odd = upper.and(isa.integer(1));
        // Half a unit minus one, plus the lowest kept bit: rounds to nearest, ties to even.
        let rounded = bits + (odd + isa.integer(0x7FFF));
        // Setting the quiet bit keeps a NaN whose payload is only in the lower half from becoming an infinity.
        let quiet = upper.or(isa.integer(0x40));
        isa.put_words(I::I::select(values.ne(values), quiet, rounded.shr(16)), out);
    }
    scalar::bf16_from_f32(rest, out_rest);
}

#[inline(always)]
pub(crate) fn bf16_to_f32<I: Registers<N>, const N: usize>(isa: I, codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<N>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * N);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<N>().0) {
        isa.put_floats(isa.floats_of_bits(isa.words(codes).shl(16)), out);
    }
    scalar::bf16_to_f32(rest, out_rest);
}
