//! Search for the best cut of a numeric feature.

use bitgrain_kernels::Backend;
use bitgrain_kernels::histograms::{CutTerms, best_cut as search};

use super::{Rules, Totals};
use crate::train::grow::Sum;

/// Split between two bins: bins up to `bin` go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut<S> {
    pub(crate) worth: f64,
    pub(crate) bin: usize,
    pub(crate) missing_left: bool,
    pub(crate) left: S,
}

/// Prefix sums over the bins.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    grads: Vec<f64>,
    hess: Vec<f64>,
}

impl Prefixes {
    fn fill<S: Sum>(&mut self, bins: &[S]) {
        // Contents are replaced: only the growth of the vectors writes zeros.
        self.grads.resize(bins.len(), 0.0);
        self.hess.resize(bins.len(), 0.0);
        let mut sum = S::default();
        for ((&bin, grads), hess) in bins.iter().zip(&mut self.grads).zip(&mut self.hess) {
            sum = sum.plus(bin);
            (*grads, *hess) = sum.parts();
        }
    }
}

/// Returns whether the left child has at least half of the node's hessian sum, which stands for its number of rows.
pub(crate) fn is_larger(left_hess: f64, hess: f64) -> bool {
    2.0 * left_hess >= hess
}

/// Returns the best allowed cut. `bins` are the value bins, `missing` is the missing-value bin.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn best_cut<S: Sum>(
    bins: &[S],
    missing: Option<S>,
    node: &Totals<S>,
    rules: &Rules,
    prefixes: &mut Prefixes,
) -> Option<Cut<S>> {
    let is_populated = |sum: &S| *sum != S::default();
    // Stop at the last populated bin. The node's sum differs from the sum of its bins by rounding, so a cut after all
    // rows would leave a right child that consists of the rounding error.
    let last = bins.iter().rposition(is_populated)?;
    let missing = missing.filter(is_populated);
    prefixes.fill(&bins[..=last]);
    let (grad, hess) = node.sum.parts();
    // Histograms do not count rows; a child's share of the hessian sum estimates its share of the rows.
    let min_rows = (rules.min_child_samples - 0.5) * hess / node.rows as f64;
    let terms = CutTerms {
        grad,
        hess,
        grad_beside: 0.0,
        hess_beside: 0.0,
        min_hess: min_rows.max(rules.min_child_weight / rules.hess_step).max(f64::MIN_POSITIVE),
        // Histogram sums are in units of the quantization steps.
        l1: rules.lambda_l1 / rules.grad_step,
        l2: rules.lambda_l2 / rules.hess_step,
    };
    let best =
        |terms: &CutTerms, cuts: usize| search(Backend::best(), terms, &prefixes.grads[..cuts], &prefixes.hess[..cuts]);
    // With missing values on the right, all other values may go left.
    let right = best(&terms, last + usize::from(missing.is_some()));
    let left = missing.and_then(|missing| {
        let (grad_beside, hess_beside) = missing.parts();
        best(&CutTerms { grad_beside, hess_beside, ..terms }, last)
    });
    let (missing_left, (bin, worth)) = match (right, left) {
        (Some(right), Some(left)) if left.1 > right.1 => (true, left),
        (Some(right), _) => (false, right),
        (None, left) => (true, left?),
    };
    let start = missing.filter(|_| missing_left).unwrap_or_default();
    let left = bins[..=bin].iter().fold(start, |sum, bin| sum.plus(*bin));
    // A node without missing values does not determine their direction: they follow the majority of its rows.
    let missing_left = if missing.is_none() { is_larger(left.parts().1, hess) } else { missing_left };
    let unit = rules.grad_step * rules.grad_step / rules.hess_step;
    Some(Cut { worth: worth * unit, bin, missing_left, left })
}
