//! Decoding of 4- and 5-bit codes: a lookup gives their values, which are then widened and scaled.

use crate::ggml::layout::{iq4_nl, mxfp4};
use crate::narrow::quantize::floats16;
use crate::narrow::register::{Bits, Narrow};
use crate::scalar::f32_of;

pub(super) fn decode_q4_0<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<18, I>(isa, &ramp(-8), bytes, out, |block| (half([block[0], block[1]]), None, None));
}

pub(super) fn decode_q4_1<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<20, I>(isa, &ramp(0), bytes, out, |block| {
        (half([block[0], block[1]]), Some(half([block[2], block[3]])), None)
    });
}

pub(super) fn decode_iq4_nl<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<18, I>(isa, &iq4_nl::TABLE, bytes, out, |block| (half([block[0], block[1]]), None, None));
}

pub(super) fn decode_mxfp4<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<17, I>(isa, &mxfp4::TABLE, bytes, out, |block| (mxfp4::step(block[0]), None, None));
}

pub(super) fn decode_q5_0<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<22, I>(isa, &ramp(-16), bytes, out, |block| {
        let fifths = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
        (half([block[0], block[1]]), None, Some(fifths))
    });
}

pub(super) fn decode_q5_1<I: Narrow>(isa: I, bytes: &[u8], out: &mut [f32]) {
    decode_each::<24, I>(isa, &ramp(0), bytes, out, |block| {
        let fifths = u32::from_le_bytes([block[4], block[5], block[6], block[7]]);
        (half([block[0], block[1]]), Some(half([block[2], block[3]])), Some(fifths))
    });
}

/// Decodes blocks that end with sixteen bytes of codes; `fields` extracts the scale, the minimum and the fifth bits of a
/// block.
#[inline(always)]
fn decode_each<const B: usize, I: Narrow>(
    isa: I,
    table: &[i8; 16],
    bytes: &[u8],
    out: &mut [f32],
    fields: impl Fn(&[u8; B]) -> (f32, Option<f32>, Option<u32>),
) {
    let table = isa.codes8(&table.map(i8::cast_unsigned));
    for (block, out) in bytes.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let Some(pairs) = block.last_chunk() else { continue };
        let pairs = isa.codes8(pairs);
        let codes = [isa.and_bits(pairs, isa.code8(15)), isa.shr8(pairs, 4)];
        let (scale, min, fifths) = fields(block);
        let scale = isa.splat(scale);
        for (i, (codes, out)) in codes.into_iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
            let mut steps = isa.lookup(table, codes);
            if let Some(fifths) = fifths {
                steps = isa.add8(steps, isa.and_bits(spread(isa, fifths >> (16 * i)), isa.code8(16)));
            }
            for (steps, out) in floats16(isa, steps).into_iter().zip(out.as_chunks_mut::<4>().0) {
                // Multiply, then add: the reference does not fuse, and its bits are part of the contract.
                let values = scale * steps;
                let values = match min {
                    Some(min) => values + isa.splat(min),
                    None => values,
                };
                isa.put_floats(values, out);
            }
        }
    }
}

/// Expands the low sixteen bits to bytes of all zeros or all ones.
#[inline(always)]
fn spread<I: Narrow>(isa: I, bits: u32) -> Bits<I> {
    const SOURCE: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    let bytes = isa.lookup(isa.bits_of(isa.integer(bits)), isa.codes8(&SOURCE));
    // Bit `i` of a byte selects lane `i` of eight.
    let places = isa.splat64(0x8040_2010_0804_0201);
    isa.eq8(isa.and_bits(bytes, places), places)
}

fn half(bytes: [u8; 2]) -> f32 {
    f32_of(u16::from_le_bytes(bytes))
}

/// Returns sixteen consecutive integers.
const fn ramp(first: i8) -> [i8; 16] {
    let mut ramp = [first; 16];
    let mut i = 1;
    while i < 16 {
        ramp[i] = ramp[i - 1] + 1;
        i += 1;
    }
    ramp
}
