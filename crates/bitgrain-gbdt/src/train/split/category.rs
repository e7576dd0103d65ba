//! Search for the best split of categories into two sets.

use super::{Rules, Totals};
use crate::train::grow::Sum;

/// Split of categories: these bins go left, all other categories and missing values go right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice<S> {
    pub(crate) worth: f64,
    pub(crate) bins: Vec<usize>,
    pub(crate) left: S,
}

/// Returns the best allowed set. `bins` are the known categories, `missing` is the bin of all other values. Both sides
/// have at least one populated bin.
///
/// Few categories are tried one against the rest. Many categories are sorted by their smoothed individual prediction,
/// and prefixes from either end are tried: for squared loss, the best set is among these (Fisher, 1958).
///
/// `score` rates the sums of the left and the right child with an additional L2 penalty. A random number `pick` selects
/// the only set that is tried.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn best_choice<S: Sum>(
    (bins, missing): (&[S], Option<S>),
    node: &Totals<S>,
    rules: &Rules,
    score: impl Fn((f64, f64), (f64, f64), f64) -> Option<f64>,
    pick: Option<u64>,
) -> Option<Choice<S>> {
    let is_populated = |sum: &&S| **sum != S::default();
    let populated = bins.iter().chain(&missing).filter(is_populated).count();
    let (grad, hess) = real(node.sum, rules);
    let min_hess =
        ((rules.min_child_samples - 0.5) * hess / node.rows as f64).max(rules.min_child_weight).max(f64::MIN_POSITIVE);
    let rows_of = |hess_of: f64| hess_of / hess * node.rows as f64;
    let l2 = if bins.len() <= rules.max_cat_to_onehot { 0.0 } else { rules.cat_l2 };
    let worth = |left: S| -> Option<f64> {
        let left = real(left, rules);
        let right = (grad - left.0, hess - left.1);
        let allowed = left.1 >= min_hess && right.1 >= min_hess;
        if allowed { score(left, right, l2) } else { None }
    };
    let mut best: Option<Choice<S>> = None;
    let mut offer = |left: S, n_bins: usize, bins: &dyn Fn() -> Vec<usize>| {
        // Both sides need a populated bin: a side without rows would gain from rounding errors only.
        if n_bins < populated
            && let Some(worth) = worth(left)
            && best.as_ref().is_none_or(|best| worth > best.worth)
        {
            best = Some(Choice { worth, bins: bins(), left });
        }
    };
    if bins.len() <= rules.max_cat_to_onehot {
        let some = || bins.iter().enumerate().filter(|(_, sum)| is_populated(sum));
        let picked = picked(pick, || some().count());
        let tried = some().enumerate().filter(|(at, _)| picked.is_none_or(|picked| picked == *at));
        tried.for_each(|(_, (bin, &sum))| offer(sum, 1, &|| vec![bin]));
        return best;
    }
    // Categories that are absent or too rare to be ranked stay on the right.
    let mut order: Vec<(f64, usize)> = (0..bins.len())
        .filter_map(|bin| {
            let (grad, hess_of) = real(bins[bin], rules);
            (rows_of(hess_of) >= rules.cat_smooth.max(0.5))
                .then(|| (grad / (hess_of + rules.cat_smooth * hess / node.rows as f64), bin))
        })
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let at_most = rules.max_cat_threshold.min(order.len().div_ceil(2));
    let picked = picked(pick, || 2 * at_most);
    for from_end in [false, true] {
        let nth = |i: usize| order[if from_end { order.len() - 1 - i } else { i }].1;
        let mut left = S::default();
        for taken in 0..at_most {
            left = left.plus(bins[nth(taken)]);
            if picked.is_none_or(|picked| picked == usize::from(from_end) * at_most + taken) {
                offer(left, taken + 1, &|| (0..=taken).map(nth).collect());
            }
        }
    }
    best
}

/// Returns the number of the candidate that a random number selects.
fn picked(pick: Option<u64>, count: impl Fn() -> usize) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, reason = "below the number of candidates")]
    pick.map(|random| (random % count().max(1) as u64) as usize)
}

/// Converts a sum from quantization steps to gradient and hessian.
fn real<S: Sum>(sum: S, rules: &Rules) -> (f64, f64) {
    let (grad, hess) = sum.parts();
    (grad * rules.grad_step, hess * rules.hess_step)
}
