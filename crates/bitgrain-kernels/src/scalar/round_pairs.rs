//! Rounding of gradient pairs: the portable loop.

use crate::histogram::Pair8;
use crate::round_pairs::{PairSteps, round_pairs_body};

pub(crate) fn round_pairs(steps: &PairSteps, grads: &[f32], hess: &[f32], rows: &[u32], out: &mut [Pair8]) {
    round_pairs_body(steps, grads, hess, rows, out);
}
