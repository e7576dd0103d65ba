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
    let terms = terms(node, rules);
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
    let missing_left = if missing.is_none() { is_larger(left.parts().1, terms.hess) } else { missing_left };
    Some(Cut { worth: worth * unit(rules), bin, missing_left, left })
}

/// Features of two bins without missing values, such as one-hot columns. Each has one cut, so that all of them are
/// searched as if they were the cuts of one feature.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    features: Vec<usize>,
    sums: Prefixes,
}

impl Pairs {
    /// Adds a feature.
    pub(crate) fn push<S: Sum>(&mut self, feature: usize, bins: &[S]) {
        // Without rows in the second bin there is no cut; see `best_cut`.
        if let [first, second] = bins
            && *second != S::default()
        {
            let (grad, hess) = first.parts();
            self.features.push(feature);
            self.sums.grads.push(grad);
            self.sums.hess.push(hess);
        }
    }

    /// Returns the first feature with the best cut. `first_bin` returns the sum of a feature's first bin.
    pub(crate) fn best<S: Sum>(
        &self,
        node: &Totals<S>,
        rules: &Rules,
        first_bin: impl Fn(usize) -> S,
    ) -> Option<(usize, Cut<S>)> {
        let terms = terms(node, rules);
        let (at, worth) = search(Backend::best(), &terms, &self.sums.grads, &self.sums.hess)?;
        let left = first_bin(self.features[at]);
        let missing_left = is_larger(left.parts().1, terms.hess);
        Some((self.features[at], Cut { worth: worth * unit(rules), bin: 0, missing_left, left }))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
fn terms<S: Sum>(node: &Totals<S>, rules: &Rules) -> CutTerms {
    let (grad, hess) = node.sum.parts();
    // Histograms do not count rows; a child's share of the hessian sum estimates its share of the rows.
    let min_rows = (rules.min_child_samples - 0.5) * hess / node.rows as f64;
    CutTerms {
        grad,
        hess,
        grad_beside: 0.0,
        hess_beside: 0.0,
        min_hess: min_rows.max(rules.min_child_weight / rules.hess_step).max(f64::MIN_POSITIVE),
        // Histogram sums are in units of the quantization steps.
        l1: rules.lambda_l1 / rules.grad_step,
        l2: rules.lambda_l2 / rules.hess_step,
    }
}

/// Value of a worth of 1 in units of the quantization steps.
fn unit(rules: &Rules) -> f64 {
    rules.grad_step * rules.grad_step / rules.hess_step
}
