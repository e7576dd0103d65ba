//! Largest difference, with four registers of running maxima.

use crate::generic::registers::{Integers, Registers};
use crate::lanes::Lanes;

#[inline(always)]
pub(crate) fn max_difference<I: Registers<N>, const N: usize>(isa: I, a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<N>(), b.as_chunks::<N>());
    let ((a, a_singles), (b, b_singles)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut max = [isa.splat(0.0); 4];
    for (a, b) in a.iter().zip(b) {
        for (max, (a, b)) in max.iter_mut().zip(a.iter().zip(b)) {
            // `max` returns its argument if either operand is NaN, so the running maximum is passed as the argument.
            *max = (isa.floats(a) - isa.floats(b)).abs().max(*max);
        }
    }
    for (a, b) in a_singles.iter().zip(b_singles) {
        max[0] = (isa.floats(a) - isa.floats(b)).abs().max(max[0]);
    }
    if !a_rest.is_empty() {
        max[1] = (isa.floats_then_zeros(a_rest) - isa.floats_then_zeros(b_rest)).abs().max(max[1]);
    }
    // Maxima are never negative or NaN, so that their bits have the same order.
    f32::from_bits(isa.bits(max[0].max(max[1]).max(max[2].max(max[3]))).largest())
}
