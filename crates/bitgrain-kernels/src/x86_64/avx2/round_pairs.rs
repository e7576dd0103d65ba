//! Codes of gradients: the portable loop, compiled for AVX2.

use crate::histogram::Pair8;
use crate::round_pairs::{PairSteps, round_pairs_body};

#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn round_pairs(steps: &PairSteps, grads: &[f32], hess: &[f32], first: u32, out: &mut [Pair8]) {
    round_pairs_body(steps, grads, hess, first, out);
}
