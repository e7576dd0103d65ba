//! Quantization of activations to 8-bit codes: the definition.

use crate::product::{Place, TINY};

/// 1.5 * 2^23: adding it rounds to an integer, ties to even, and leaves the integer in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// Returns false if a value is not finite.
pub(crate) fn quantize_activations(
    values: &[f32],
    place: Place,
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> bool {
    let mut good = true;
    for (block, values) in values.chunks(32).enumerate() {
        good &= quantize_block(block, values, place, codes, scales, sums);
    }
    good
}

/// Quantizes one block of at most 32 values.
pub(crate) fn quantize_block(
    block: usize,
    values: &[f32],
    place: Place,
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> bool {
    let largest = values.iter().fold(0, |most, x| x.abs().to_bits().max(most));
    let largest = f32::from_bits(largest);
    let (mut row, mut sum) = ([[0; 4]; 8], 0);
    let mut scale = 0.0;
    if largest >= TINY && largest.is_finite() {
        scale = largest / 127.0;
        let inverse = 127.0 / largest;
        for (code, x) in row.as_flattened_mut().iter_mut().zip(values) {
            #[expect(clippy::cast_possible_truncation, reason = "the code is the low byte")]
            let low = (x * inverse + ROUNDER).to_bits() as u8;
            *code = low;
            sum += i32::from(low.cast_signed());
        }
    }
    place.store(block, &row, scale, sum, (codes, scales, sums));
    largest.is_finite()
}
