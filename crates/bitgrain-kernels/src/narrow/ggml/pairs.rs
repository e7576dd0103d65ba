//! Q4_0, Q4_1, Q5_0, Q5_1: four blocks at a time.
//!
//! They differ in the `BYTES` of a block, the `BITS` of a code, and in codes that are `CENTERED` at zero or relative to a
//! stored minimum. A block has the scale, an optional minimum, optionally 32 fifth bits, and 16 bytes of nibbles.

use crate::generic::ggml::scales::affine;
use crate::ggml::layout;
use crate::ggml::rounded::Rounded;
use crate::lanes::Lanes;
use crate::narrow::register::{Bits, Floats, Narrow};

pub(super) fn encode<const BYTES: usize, const BITS: u32, const CENTERED: bool>(
    isa: impl Narrow,
    format: Rounded,
    values: &[f32],
    out: &mut [u8],
) {
    let (groups, rest) = values.as_chunks::<32>().0.as_chunks::<4>();
    let (outs, out_rest) = out.as_chunks_mut::<BYTES>().0.as_chunks_mut::<4>();
    for (blocks, out) in groups.iter().zip(outs) {
        let scales = affine::<BITS, CENTERED, _, _>(isa, blocks);
        for (i, (block, out)) in blocks.iter().zip(out).enumerate() {
            let [low, high] = block.as_chunks::<16>().0 else { unreachable!("32 values are two groups of 16") };
            let low = codes16::<BITS, CENTERED, _>(isa, low, scales.mins.of(i), scales.inverses.of(i));
            let high = codes16::<BITS, CENTERED, _>(isa, high, scales.mins.of(i), scales.inverses.of(i));
            let fifths = if BITS == 5 { isa.fifth_bits(low) | isa.fifth_bits(high) << 16 } else { 0 };
            if let Some(nibbles) = scales.write_head::<BYTES, BITS, CENTERED>(i, fifths, out) {
                // Shifting words by four moves the lower nibble of each byte up; the mask removes its neighbor's bits.
                let up = isa.and_bits(isa.shl64(high, 4), isa.code8(0xF0));
                isa.put_codes8(isa.or_bits(isa.and_bits(low, isa.code8(15)), up), nibbles);
            }
        }
    }
    layout::encode(format, rest.as_flattened(), out_rest.as_flattened_mut());
}

/// Computes the codes of 16 values; non-finite quotients give 0, as in `layout::rounding`.
#[inline(always)]
fn codes16<const BITS: u32, const CENTERED: bool, I: Narrow>(
    isa: I,
    values: &[f32; 16],
    min: f32,
    inverse: f32,
) -> Bits<I> {
    let (min, inverse, zero) = (isa.splat(min), isa.splat(inverse), isa.splat(0.0));
    // The reference adds 0.5 and truncates; centered codes also add the code of zero.
    let offset = isa.splat(if CENTERED { (1 << (BITS - 1)) as f32 + 0.5 } else { 0.5 });
    let mut codes = [isa.integer(0); 4];
    for (code, values) in codes.iter_mut().zip(values.as_chunks::<4>().0) {
        let values = isa.floats(values);
        let values = if CENTERED { values } else { values - min };
        let moved = values * inverse + offset;
        let small = isa.splat(128.0).gt(moved);
        *code = isa.truncated(Floats::<I>::select(small, moved, zero).max(zero));
    }
    let [a, b, c, d] = codes;
    let codes = isa.narrow16::<false>(isa.narrow32(a, b), isa.narrow32(c, d));
    isa.min8(codes, isa.code8((1 << BITS) - 1))
}
