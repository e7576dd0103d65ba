//! MXFP4, block by block.

use super::nearest::magnitude;
use crate::generic::registers::Integers;
use crate::ggml::layout;
use crate::ggml::layout::mxfp4::{MIDDLES, exponent, step};
use crate::ggml::rounded::Rounded;
use crate::lanes::Lanes;
use crate::narrow::register::{Bits, Dwords, Narrow};

pub(super) fn encode<I: Narrow>(isa: I, values: &[f32], out: &mut [u8]) {
    for (values, out) in values.as_chunks::<32>().0.iter().zip(out.as_chunks_mut::<17>().0) {
        let largest = magnitude(isa, values);
        if largest == f32::INFINITY {
            layout::encode(Rounded::MXFP4, values, out);
            continue;
        }
        let [head, pairs @ ..] = out;
        *head = exponent(largest);
        let [low, high] = values.as_chunks::<16>().0 else { unreachable!("32 values are two groups of 16") };
        let (low, high) = (codes16(isa, low, step(*head)), codes16(isa, high, step(*head)));
        // The upper bits of every byte are 0, so no bit moves to the next byte.
        isa.put_codes8(isa.or_bits(low, isa.shl64(high, 4)), pairs);
    }
}

/// Counts the midpoints below each magnitude, and adds 8 to negative values beyond the first midpoint.
#[inline(always)]
fn codes16<I: Narrow>(isa: I, values: &[f32; 16], step: f32) -> Bits<I> {
    let (zero, one) = (isa.integer(0), isa.integer(1));
    let mut codes = [zero; 4];
    for (code, values) in codes.iter_mut().zip(values.as_chunks::<4>().0) {
        let values = isa.floats(values);
        let magnitudes = values.abs();
        for middle in MIDDLES {
            let beyond = magnitudes.gt(isa.splat(middle * step));
            *code = *code + <Dwords<I> as Integers>::select(beyond, one, zero);
        }
        let signs = isa.bits(values).shr(28).and(isa.integer(8));
        let beyond = magnitudes.gt(isa.splat(MIDDLES[0] * step));
        *code = *code + <Dwords<I> as Integers>::select(beyond, signs, zero);
    }
    let [a, b, c, d] = codes;
    isa.narrow16::<false>(isa.narrow32(a, b), isa.narrow32(c, d))
}
