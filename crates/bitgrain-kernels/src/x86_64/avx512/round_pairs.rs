//! Codes of gradients: the portable loop, compiled for AVX-512.

use crate::histogram::Pair8;
use crate::round_pairs::{PairSteps, round_pairs_body};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn round_pairs(steps: &PairSteps, grads: &[f32], hess: &[f32], first: u32, out: &mut [Pair8]) {
    round_pairs_body(steps, grads, hess, first, out);
}
