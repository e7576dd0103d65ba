//! Splits between two bins of numbers.

use super::{Rules, Totals};
use crate::train::grow::Sum;

/// A split between bins: those up to `bin` go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut<S> {
    pub(crate) worth: f64,
    pub(crate) bin: usize,
    pub(crate) missing_left: bool,
    pub(crate) left: S,
}

/// The best place to cut, if any is allowed. `bins` are those of values, `missing` what the bin of missing ones holds.
pub(crate) fn best_cut<S: Sum>(bins: &[S], missing: Option<S>, node: &Totals<S>, rules: &Rules) -> Option<Cut<S>> {
    let missing = missing.filter(|missing| *missing != S::default());
    // With the missing ones on the right, all values may go left.
    let last = bins.len() - usize::from(missing.is_none());
    let right = walk(&bins[..last], S::default(), false, node, rules);
    let left = missing.and_then(|missing| walk(&bins[..bins.len() - 1], missing, true, node, rules));
    match (right, left) {
        (Some(right), Some(left)) => Some(if left.worth > right.worth { left } else { right }),
        (right, left) => right.or(left),
    }
}

/// Cuts behind each of the bins, with `start` on the left beside them.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
fn walk<S: Sum>(bins: &[S], start: S, missing_left: bool, node: &Totals<S>, rules: &Rules) -> Option<Cut<S>> {
    let (grad, hess) = node.sum.parts();
    // Rows are told from hessians: their share of the node's.
    let min_rows = (rules.min_child_samples - 0.5) * hess / node.rows as f64;
    let min_hess = min_rows.max(rules.min_child_weight / rules.hess_step);
    // In units of the steps, what is added to hessians and taken from gradients.
    let (l1, l2) = (rules.lambda_l1 / rules.grad_step, rules.lambda_l2 / rules.hess_step);
    let shrunk = |grad: f64| if l1 == 0.0 { grad } else { grad.signum() * (grad.abs() - l1).max(0.0) };
    let mut best: Option<(f64, usize, S)> = None;
    let mut best_worth = f64::NEG_INFINITY;
    let mut left = start;
    for (bin, &sum) in bins.iter().enumerate() {
        // The same rows as one bin earlier.
        if sum == S::default() {
            continue;
        }
        left = left.plus(sum);
        let (left_grad, left_hess) = left.parts();
        if left_hess < min_hess {
            continue;
        }
        let right_hess = hess - left_hess;
        if right_hess < min_hess {
            break;
        }
        let (left_grad, right_grad) = (shrunk(left_grad), shrunk(grad - left_grad));
        let (left_hess, right_hess) = (left_hess + l2, right_hess + l2);
        // Two fractions over one bar: dividing is what takes long.
        let worth =
            (left_grad * left_grad * right_hess + right_grad * right_grad * left_hess) / (left_hess * right_hess);
        if worth > best_worth {
            best_worth = worth;
            best = Some((worth, bin, left));
        }
    }
    let unit = rules.grad_step * rules.grad_step / rules.hess_step;
    best.map(|(worth, bin, left)| Cut { worth: worth * unit, bin, missing_left, left })
}
