//! Largest magnitude.

use crate::generic::registers::{Integers, Registers};
use crate::lanes::Lanes;

/// Keeps eight registers of running maxima: four would hide the latency, eight also halve the loop overhead.
#[inline(always)]
pub(crate) fn max_abs<I: Registers<N>, const N: usize>(isa: I, values: &[f32]) -> f32 {
    let (vectors, rest) = values.as_chunks::<N>();
    let (eights, singles) = vectors.as_chunks::<8>();
    let mut max = [isa.splat(0.0); 8];
    for eight in eights {
        for (max, vector) in max.iter_mut().zip(eight) {
            // `max` returns its argument if either operand is NaN, so the running maximum is passed as the argument.
            *max = isa.floats(vector).abs().max(*max);
        }
    }
    for vector in singles {
        max[0] = isa.floats(vector).abs().max(max[0]);
    }
    if !rest.is_empty() {
        max[1] = isa.floats_then_zeros(rest).abs().max(max[1]);
    }
    // Maxima are never negative or NaN, so that their bits have the same order.
    let mut most = isa.bits(max[0]);
    for max in &max[1..] {
        most = most.max(isa.bits(*max));
    }
    f32::from_bits(most.largest())
}

/// Returns the largest magnitude as bits; above `f32::MAX.to_bits()` if any value is not finite. Four registers are
/// enough for short blocks.
#[inline(always)]
pub(crate) fn max_abs_bits<I: Registers<N>, const N: usize>(isa: I, values: &[f32]) -> u32 {
    let (vectors, rest) = values.as_chunks::<N>();
    let (fours, singles) = vectors.as_chunks::<4>();
    let mut max = [isa.integer(0); 4];
    for four in fours {
        for (max, vector) in max.iter_mut().zip(four) {
            *max = max.max(isa.bits(isa.floats(vector).abs()));
        }
    }
    for vector in singles {
        max[0] = max[0].max(isa.bits(isa.floats(vector).abs()));
    }
    if !rest.is_empty() {
        max[1] = max[1].max(isa.bits(isa.floats_then_zeros(rest).abs()));
    }
    max[0].max(max[1]).max(max[2].max(max[3])).largest()
}
