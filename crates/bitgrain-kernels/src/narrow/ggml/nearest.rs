//! Q8_0, TQ1_0 and TQ2_0: rounding to the nearest integer, halves away from zero, as in `layout::rounding`.

use crate::cast::as_bytes_mut;
use crate::generic::ggml::extremes::Reduce;
use crate::generic::ggml::scales::{Each, Halves};
use crate::generic::registers::Integers;
use crate::ggml::layout;
use crate::ggml::rounded::Rounded;
use crate::lanes::Lanes;
use crate::narrow::quantize::floats16;
use crate::narrow::register::{Bits, Floats, Narrow};
use crate::scalar::f32_of;

pub(super) fn encode_q8_0<I: Narrow>(isa: I, values: &[f32], out: &mut [u8]) {
    let (fours, rest) = values.as_chunks::<32>().0.as_chunks::<4>();
    let (outs, out_rest) = out.as_chunks_mut::<34>().0.as_chunks_mut::<4>();
    for (blocks, out) in fours.iter().zip(outs) {
        let zero = isa.splat(0.0);
        // The larger of both extremes is the largest magnitude; NaN is ignored.
        let (top, bottom) = (isa.highest(blocks, zero), isa.lowest(blocks, zero));
        let scales = top.max(bottom.abs()) / isa.splat(127.0);
        let (halves, inverses) = (Halves::new(isa, scales), Each::inverse(isa, scales));
        for (i, (block, out)) in blocks.iter().zip(out).enumerate() {
            let [low, high, bytes @ ..] = out;
            [*low, *high] = halves.of(i);
            for (values, out) in block.as_chunks::<16>().0.iter().zip(bytes.as_chunks_mut::<16>().0) {
                isa.put_codes8(codes16(isa, values, isa.splat(inverses.of(i))), out);
            }
        }
    }
    layout::encode(Rounded::Q8_0, rest.as_flattened(), out_rest.as_flattened_mut());
}

pub(super) fn decode_q8_0<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    for (bytes, out) in bytes.as_chunks::<34>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let [low, high, codes @ ..] = bytes;
        let scale = isa.splat(f32_of(u16::from_le_bytes([*low, *high])));
        for (codes, out) in codes.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
            for (codes, out) in floats16(isa, isa.codes8(codes)).into_iter().zip(out.as_chunks_mut::<4>().0) {
                isa.put_floats(codes * scale, out);
            }
        }
    }
}

/// Returns the codes of a block of ternary weights and its scale.
pub(super) fn ternary<I: Narrow>(isa: I, values: &[f32; 256]) -> ([i8; 256], f32) {
    let scale = magnitude(isa, values);
    let inverse = isa.splat(if scale == 0.0 { 0.0 } else { 1.0 / scale });
    let mut codes = [0; 256];
    for (values, out) in values.as_chunks::<16>().0.iter().zip(as_bytes_mut(&mut codes).as_chunks_mut::<16>().0) {
        isa.put_codes8(codes16(isa, values, inverse), out);
    }
    (codes, scale)
}

/// Returns the largest magnitude of a block, ignoring NaN.
#[inline(always)]
pub(super) fn magnitude<const N: usize, I: Narrow>(isa: I, values: &[f32; N]) -> f32 {
    let mut max = [isa.splat(0.0); 4];
    for four in values.as_chunks::<4>().0.as_chunks::<4>().0 {
        for (max, values) in max.iter_mut().zip(four) {
            *max = isa.floats(values).abs().max(*max);
        }
    }
    let [a, b, c, d] = max;
    // Maxima are never negative or NaN, so that their bits have the same order.
    f32::from_bits(isa.bits(a.max(b).max(c.max(d))).largest())
}

#[inline(always)]
fn codes16<I: Narrow>(isa: I, values: &[f32; 16], inverse: Floats<I>) -> Bits<I> {
    let zero = isa.splat(0.0);
    let mut codes = [isa.integer(0); 4];
    for (code, values) in codes.iter_mut().zip(values.as_chunks::<4>().0) {
        let steps = isa.floats(values) * inverse;
        // The largest f32 below one half, with the sign of the value: see `layout::rounding`.
        let sign = isa.bits(steps).and(isa.integer(0x8000_0000));
        let moved = steps + isa.floats_of_bits(sign.or(isa.bits(isa.splat(0.499_999_97))));
        let small = isa.splat(128.0).gt(moved.abs());
        *code = isa.truncated(Floats::<I>::select(small, moved, zero));
    }
    let [a, b, c, d] = codes;
    isa.narrow16::<true>(isa.narrow32(a, b), isa.narrow32(c, d))
}
