//! Splits of categories into two sets.

use super::{Rules, Totals};
use crate::train::grow::Sum;

/// A split of categories: those of these bins go left, all others and the missing ones right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice<S> {
    pub(crate) worth: f64,
    pub(crate) bins: Vec<usize>,
    pub(crate) left: S,
}

/// The best set, if any is allowed. `bins` are those of known categories, `missing` what the bin of all others holds.
/// Both sides have a bin with rows.
///
/// Of few categories, one against the rest. Of many, they are ordered by what they would predict alone, smoothed, and
/// sets are taken from either end: the best of all sets is among these for squared loss.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn best_choice<S: Sum>(
    bins: &[S],
    missing: Option<S>,
    node: &Totals<S>,
    rules: &Rules,
) -> Option<Choice<S>> {
    let is_populated = |sum: &&S| **sum != S::default();
    let populated = bins.iter().chain(&missing).filter(is_populated).count();
    let (grad, hess) = real(node.sum, rules);
    let min_hess =
        ((rules.min_child_samples - 0.5) * hess / node.rows as f64).max(rules.min_child_weight).max(f64::MIN_POSITIVE);
    let rows_of = |hess_of: f64| hess_of / hess * node.rows as f64;
    let l2 = if bins.len() <= rules.max_cat_to_onehot { 0.0 } else { rules.cat_l2 };
    let worth = |left: S| -> Option<f64> {
        let (left_grad, left_hess) = real(left, rules);
        let right_hess = hess - left_hess;
        let allowed = left_hess >= min_hess && right_hess >= min_hess;
        allowed.then(|| rules.worth(left_grad, left_hess, l2) + rules.worth(grad - left_grad, right_hess, l2))
    };
    let mut best: Option<Choice<S>> = None;
    let mut offer = |left: S, n_bins: usize, bins: &dyn Fn() -> Vec<usize>| {
        if n_bins < populated
            && let Some(worth) = worth(left)
            && best.as_ref().is_none_or(|best| worth > best.worth)
        {
            best = Some(Choice { worth, bins: bins(), left });
        }
    };
    if bins.len() <= rules.max_cat_to_onehot {
        let some = bins.iter().enumerate().filter(|(_, sum)| is_populated(sum));
        some.for_each(|(bin, &sum)| offer(sum, 1, &|| vec![bin]));
        return best;
    }
    // Too rare to be ordered, or not there at all: they stay on the right.
    let mut order: Vec<(f64, usize)> = (0..bins.len())
        .filter_map(|bin| {
            let (grad, hess_of) = real(bins[bin], rules);
            (rows_of(hess_of) >= rules.cat_smooth.max(0.5))
                .then(|| (grad / (hess_of + rules.cat_smooth * hess / node.rows as f64), bin))
        })
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let at_most = rules.max_cat_threshold.min(order.len().div_ceil(2));
    for from_end in [false, true] {
        let nth = |i: usize| order[if from_end { order.len() - 1 - i } else { i }].1;
        let mut left = S::default();
        for taken in 0..at_most {
            left = left.plus(bins[nth(taken)]);
            offer(left, taken + 1, &|| (0..=taken).map(nth).collect());
        }
    }
    best
}

/// Gradient and hessian themselves.
fn real<S: Sum>(sum: S, rules: &Rules) -> (f64, f64) {
    let (grad, hess) = sum.parts();
    (grad * rules.grad_step, hess * rules.hess_step)
}
