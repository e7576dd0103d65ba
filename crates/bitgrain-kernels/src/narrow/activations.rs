//! Quantization of activations to 8-bit codes, 32 at a time.

use crate::generic::max_abs::max_abs_bits;
use crate::lanes::ROUNDER;
use crate::narrow::register::Narrow;
use crate::product::{Place, TINY};
use crate::scalar;

pub(crate) fn quantize_activations(
    isa: impl Narrow,
    values: &[f32],
    place: Place,
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> bool {
    let (blocks, rest) = values.as_chunks::<32>();
    let mut good = true;
    for (block, values) in blocks.iter().enumerate() {
        let largest = f32::from_bits(max_abs_bits(isa, values));
        good &= largest.is_finite();
        let (mut row, mut sum, mut scale) = ([0; 32], 0, 0.0);
        // All-zero codes otherwise: the inverse of a smaller scale may overflow, and a non-finite block is rejected
        // anyway.
        if largest >= TINY && largest.is_finite() {
            scale = largest / 127.0;
            let (inverse, rounder) = (isa.splat(127.0 / largest), isa.splat(ROUNDER));
            let offset = isa.integer(ROUNDER.to_bits());
            let mut total = isa.integer(0);
            for (values, out) in values.as_chunks::<16>().0.iter().zip(row.as_chunks_mut::<16>().0) {
                let mut codes = [offset; 4];
                for (code, values) in codes.iter_mut().zip(values.as_chunks::<4>().0) {
                    *code = isa.bits(isa.floats(values) * inverse + rounder) - offset;
                    total = total + *code;
                }
                let [a, b, c, d] = codes;
                isa.put_codes8(isa.narrow16::<true>(isa.narrow32(a, b), isa.narrow32(c, d)), out);
            }
            sum = isa.sum32(total);
        }
        if let Some(row) = row.as_chunks::<4>().0.first_chunk() {
            place.store(block, row, scale, sum, (&mut *codes, &mut *scales, &mut *sums));
        }
    }
    if !rest.is_empty() {
        good &= scalar::quantize_block(blocks.len(), rest, place, codes, scales, sums);
    }
    good
}
