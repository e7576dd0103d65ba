//! Conversion between values and codes, 16 at a time.

use crate::BitWidth;
use crate::cast::{as_bytes, as_bytes_mut, as_codes};
use crate::lanes::{Lanes, ROUNDER};
use crate::narrow::register::{Bits, Floats, Narrow};
use crate::scalar;

#[inline(always)]
pub(crate) fn quantize<I: Narrow>(isa: I, width: BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) {
    if scale == 0.0 {
        codes.fill(0);
        return;
    }
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = codes.split_at_mut(chunks.len() * 16);
    for (chunk, out) in chunks.iter().zip(as_bytes_mut(outs).as_chunks_mut::<16>().0) {
        isa.put_codes8(codes16::<true, I>(isa, chunk, scale, width.qmax(), 0), out);
    }
    scalar::quantize(width, rest, scale, out_rest);
}

/// Computes the codes of 16 values plus `bias`. `FOREIGN`: the scale was not computed from these values, so they may need
/// clamping and may contain NaN.
#[inline(always)]
pub(super) fn codes16<const FOREIGN: bool, I: Narrow>(
    isa: I,
    values: &[f32; 16],
    scale: f32,
    qmax: u8,
    bias: u8,
) -> Bits<I> {
    let (scale, limit) = (isa.splat(scale), isa.splat(f32::from(qmax)));
    let rounder = isa.splat(ROUNDER);
    // The rounded quotient is in the low bits of its sum with the constant; subtracting the constant's bits leaves it.
    let offset = isa.integer(ROUNDER.to_bits() - u32::from(bias));
    let mut codes = [offset; 4];
    for (code, values) in codes.iter_mut().zip(values.as_chunks::<4>().0) {
        let mut quotient = isa.floats(values) / scale;
        if FOREIGN {
            let zero = isa.splat(0.0);
            quotient = Floats::<I>::select(quotient.ne(quotient), zero, quotient.min(limit).max(zero - limit));
        }
        *code = isa.bits(quotient + rounder) - offset;
    }
    let [a, b, c, d] = codes;
    let (low, high) = (isa.narrow32(a, b), isa.narrow32(c, d));
    // Biased codes are 0 to 254, plain ones -127 to 127.
    if bias == 0 { isa.narrow16::<true>(low, high) } else { isa.narrow16::<false>(low, high) }
}

#[inline(always)]
pub(crate) fn dequantize<I: Narrow>(isa: I, codes: &[i8], scale: f32, out: &mut [f32]) {
    let (chunks, rest) = as_bytes(codes).as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (chunk, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        values16(isa, isa.codes8(chunk), isa.splat(scale), out);
    }
    scalar::dequantize(as_codes(rest), scale, out_rest);
}

/// Multiplies 16 signed codes by a scale.
#[inline(always)]
pub(super) fn values16<I: Narrow>(isa: I, codes: Bits<I>, scale: Floats<I>, out: &mut [f32; 16]) {
    for (values, out) in floats16(isa, codes).into_iter().zip(out.as_chunks_mut::<4>().0) {
        isa.put_floats(values * scale, out);
    }
}

/// Converts 16 signed codes to floats.
#[inline(always)]
pub(crate) fn floats16<I: Narrow>(isa: I, codes: Bits<I>) -> [Floats<I>; 4] {
    let [low, high] = isa.widen8(codes);
    let ([a, b], [c, d]) = (isa.widen16(low), isa.widen16(high));
    [isa.to_floats(a), isa.to_floats(b), isa.to_floats(c), isa.to_floats(d)]
}
