//! Where to cut a line of bins in two: the search of gradient boosting for the best split of a feature.

use crate::backend::{Backend, on};

/// Sums of a node, and what its halves must fulfil.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutTerms {
    /// Sum of all gradients.
    pub grad: f64,
    /// Sum of all hessians.
    pub hess: f64,
    /// What lies on the left beside the bins: gradients.
    pub grad_beside: f64,
    /// What lies on the left beside the bins: hessians.
    pub hess_beside: f64,
    /// Hessians of each half at least.
    pub min_hess: f64,
    /// Taken from the size of gradients.
    pub l1: f64,
    /// Added to hessians.
    pub l2: f64,
}

/// Bins that are looked at together.
const CHUNK: usize = 256;

/// The first of the best cuts, with its worth: the sum over both halves of `gradient² / hessian`. Cut `i` is behind
/// bin `i`, and `grads[i]` and `hess[i]` are the sums up to there. `None` if no cut is allowed.
#[must_use]
pub fn best_cut(backend: Backend, terms: &CutTerms, grads: &[f64], hess: &[f64]) -> Option<(usize, f64)> {
    let mut best = None;
    let mut most = f64::NEG_INFINITY;
    let mut worths = [0.0; CHUNK];
    for (chunk, (grads, hess)) in grads.chunks(CHUNK).zip(hess.chunks(CHUNK)).enumerate() {
        let worths = &mut worths[..grads.len().min(hess.len())];
        let highest = on!(backend, cut_worths(terms, grads, hess, worths));
        if highest > most {
            most = highest;
            best = worths.iter().position(|worth| *worth == highest).map(|at| (chunk * CHUNK + at, highest));
        }
    }
    best
}

/// The worth of each cut, minus infinity where it is not allowed; and the highest. Written so that the compiler
/// computes a register of them at a time, with the instructions of whoever calls it.
#[inline(always)]
pub(crate) fn cut_worths_body(terms: &CutTerms, grads: &[f64], hess: &[f64], worths: &mut [f64]) -> f64 {
    let worth = |grad: f64, hess: f64| {
        let (left_grad, left_hess) = (grad + terms.grad_beside, hess + terms.hess_beside);
        let (right_grad, right_hess) = (terms.grad - left_grad, terms.hess - left_hess);
        let allowed = (left_hess >= terms.min_hess) & (right_hess >= terms.min_hess);
        let shrunk = |grad: f64| {
            let size = grad.abs() - terms.l1;
            if size > 0.0 { size } else { 0.0 }
        };
        let (left_grad, right_grad) = (shrunk(left_grad), shrunk(right_grad));
        let (left_hess, right_hess) = (left_hess + terms.l2, right_hess + terms.l2);
        // Two fractions over one bar: dividing is what takes long.
        let sum = left_grad * left_grad * right_hess + right_grad * right_grad * left_hess;
        let worth = sum / (left_hess * right_hess);
        if allowed { worth } else { f64::NEG_INFINITY }
    };
    const LANES: usize = 8;
    let mut highest = [f64::NEG_INFINITY; LANES];
    let (grad_lanes, grad_rest) = grads.as_chunks::<LANES>();
    let (hess_lanes, hess_rest) = hess.as_chunks::<LANES>();
    let (out_lanes, out_rest) = worths.as_chunks_mut::<LANES>();
    for ((grads, hess), out) in grad_lanes.iter().zip(hess_lanes).zip(out_lanes) {
        for lane in 0..LANES {
            out[lane] = worth(grads[lane], hess[lane]);
            highest[lane] = if out[lane] > highest[lane] { out[lane] } else { highest[lane] };
        }
    }
    let mut most = f64::NEG_INFINITY;
    for ((&grad, &hess), out) in grad_rest.iter().zip(hess_rest).zip(out_rest) {
        *out = worth(grad, hess);
        most = if *out > most { *out } else { most };
    }
    highest.iter().fold(most, |most, &lane| if lane > most { lane } else { most })
}
