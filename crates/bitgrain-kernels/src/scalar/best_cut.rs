//! Scores of cuts: the portable loop.

use crate::best_cut::{CutTerms, cut_worths_body};

pub(crate) fn cut_worths(terms: &CutTerms, grads: &[f64], hess: &[f64], worths: &mut [f64]) -> f64 {
    cut_worths_body(terms, grads, hess, worths)
}
