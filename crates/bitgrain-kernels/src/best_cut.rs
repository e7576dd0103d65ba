//! Split search of gradient boosting: finds the best cut in a feature's bins.

use crate::backend::{Backend, on};

/// Sums of a node, and constraints on its children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutTerms {
    /// Sum of all gradients of the node.
    pub grad: f64,
    /// Sum of all hessians of the node.
    pub hess: f64,
    /// Gradients that always go left, in addition to the bins.
    pub grad_beside: f64,
    /// Hessians that always go left, in addition to the bins.
    pub hess_beside: f64,
    /// Minimum sum of hessians per child.
    pub min_hess: f64,
    /// L1 regularization: shrinks the gradient sums towards zero.
    pub l1: f64,
    /// L2 regularization: added to the hessian sums.
    pub l2: f64,
}

/// Bins evaluated together.
const CHUNK: usize = 256;

/// Returns the first of the best cuts and its score: the sum of `gradient² / hessian` over both children. Cut `i` lies
/// after bin `i`; `grads[i]` and `hess[i]` are the sums up to and including that bin. `None` if no allowed cut scores more
/// than `floor`.
#[must_use]
pub fn best_cut(backend: Backend, terms: &CutTerms, floor: f64, grads: &[f64], hess: &[f64]) -> Option<(usize, f64)> {
    let mut best = None;
    let mut most = floor;
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

/// Computes the score of each cut, minus infinity for cuts that are not allowed, and returns the highest score. Written
/// so that the compiler vectorizes the loop with the instruction set of the caller it is inlined into.
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
        // One division for two fractions: division dominates the cost of this loop.
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
