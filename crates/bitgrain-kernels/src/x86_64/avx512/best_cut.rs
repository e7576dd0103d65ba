//! The worth of cuts: the portable loop, compiled for AVX-512.

use crate::best_cut::{CutTerms, cut_worths_body};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn cut_worths(terms: &CutTerms, grads: &[f64], hess: &[f64], worths: &mut [f64]) -> f64 {
    cut_worths_body(terms, grads, hess, worths)
}
