//! Weights of errors from importances; larger values weigh more.

use crate::lanes::{Isa, Lanes};

/// Sums the squares of each row's first `len` values, in order.
#[inline(always)]
pub(crate) fn sum_of_squares<I: Isa>(isa: I, rows: &[&[f32]], len: usize) -> I::F {
    let mut sum = isa.splat(0.0);
    let mut columns = [sum; 16];
    for at in (0..len).step_by(16) {
        isa.columns(rows, at, &mut columns);
        for x in columns {
            sum = sum + x * x;
        }
    }
    sum
}

/// Converts importances to weights, `q * sqrt(variance + x * x)`. Returns the sum of the weights.
#[inline(always)]
pub(crate) fn weigh<I: Isa>(isa: I, x: &[I::F], variance: I::F, weights: &mut [I::F]) -> I::F {
    let mut sum = isa.splat(0.0);
    for (weight, &x) in weights.iter_mut().zip(x) {
        *weight = *weight * (variance + x * x).sqrt();
        sum = sum + *weight;
    }
    sum
}
