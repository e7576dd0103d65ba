//! Search for the best cut of a numeric feature.

use std::cell::RefCell;

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

thread_local! {
    static PREFIXES: RefCell<[Prefixes; TOGETHER]> = RefCell::default();
}

/// Calls `work` with vectors that a thread uses again and again: clearing new ones took as long as filling them.
pub(crate) fn with_prefixes<R>(work: impl FnOnce(&mut [Prefixes; TOGETHER]) -> R) -> R {
    PREFIXES.with(|kept| work(&mut kept.borrow_mut()))
}

/// Prefix sums over the bins.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Prefixes {
    grads: Vec<f64>,
    hess: Vec<f64>,
}

/// Number of features whose bins are added up together: additions of one feature wait for each other.
pub(crate) const TOGETHER: usize = 4;

/// Adds up the bins of several features; the sums are those of [`Prefixes::fill`].
pub(crate) fn fill_together<S: Sum>(prefixes: &mut [Prefixes; TOGETHER], bins: [&[S]; TOGETHER]) {
    let shortest = bins.map(<[S]>::len).into_iter().min().unwrap_or(0);
    let mut sums = [S::default(); TOGETHER];
    for (prefixes, bins) in prefixes.iter_mut().zip(bins) {
        prefixes.resize(bins.len());
    }
    let heads = bins.map(|bins| &bins[..shortest]);
    let mut outs = prefixes.each_mut().map(|out| (&mut out.grads[..shortest], &mut out.hess[..shortest]));
    for at in 0..shortest {
        for ((sum, head), (grads, hess)) in sums.iter_mut().zip(heads).zip(&mut outs) {
            *sum = sum.plus(head[at]);
            (grads[at], hess[at]) = sum.parts();
        }
    }
    for ((prefixes, bins), sum) in prefixes.iter_mut().zip(bins).zip(sums) {
        prefixes.fill_from(shortest, sum, bins);
    }
}

impl Prefixes {
    pub(crate) fn fill<S: Sum>(&mut self, bins: &[S]) {
        self.resize(bins.len());
        self.fill_from(0, S::default(), bins);
    }

    fn resize(&mut self, len: usize) {
        // Contents are replaced: only the growth of the vectors writes zeros.
        self.grads.resize(len, 0.0);
        self.hess.resize(len, 0.0);
    }

    /// Fills the elements from `first` on; `sum` is the sum of the bins before.
    fn fill_from<S: Sum>(&mut self, first: usize, mut sum: S, bins: &[S]) {
        let outs = self.grads[first..].iter_mut().zip(&mut self.hess[first..]);
        for (&bin, (grads, hess)) in bins[first..].iter().zip(outs) {
            sum = sum.plus(bin);
            (*grads, *hess) = sum.parts();
        }
    }
}

/// Returns whether the left child has at least half of the node's hessian sum, which stands for its number of rows.
pub(crate) fn is_larger(left_hess: f64, hess: f64) -> bool {
    2.0 * left_hess >= hess
}

/// Bins of a numeric feature that a search reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bins<'h, S> {
    /// Value bins up to the last one with rows.
    populated: &'h [S],
    /// Missing-value bin, if it has rows.
    missing: Option<S>,
}

impl<'h, S: Sum> Bins<'h, S> {
    /// Takes the value bins and the missing-value bin; `None` if no value bin has rows.
    pub(crate) fn new(bins: &'h [S], missing: Option<S>) -> Option<Self> {
        let is_populated = |sum: &S| *sum != S::default();
        // Stop at the last populated bin. The node's sum differs from the sum of its bins by rounding, so a cut after all
        // rows would leave a right child that consists of the rounding error.
        let last = bins.iter().rposition(is_populated)?;
        Some(Self { populated: &bins[..=last], missing: missing.filter(is_populated) })
    }

    pub(crate) const fn populated(&self) -> &'h [S] {
        self.populated
    }

    /// Returns the best allowed cut whose score exceeds `floor`. `prefixes` are those of the populated bins.
    pub(crate) fn best(&self, terms: &CutTerms, floor: f64, prefixes: &Prefixes) -> Option<Scored> {
        let last = self.populated.len() - 1;
        let best = |terms: &CutTerms, floor: f64, cuts: usize| {
            search(Backend::best(), terms, floor, &prefixes.grads[..cuts], &prefixes.hess[..cuts])
        };
        // With missing values on the right, all other values may go left.
        let right = best(terms, floor, last + usize::from(self.missing.is_some()));
        let left = self.missing.and_then(|missing| {
            let (grad_beside, hess_beside) = missing.parts();
            let floor = right.map_or(floor, |(_, score)| score);
            best(&CutTerms { grad_beside, hess_beside, ..*terms }, floor, last)
        });
        let missing_left = left.is_some();
        left.or(right).map(|(bin, score)| Scored { score, bin, missing_left })
    }

    /// Returns a cut with the sum of its left child.
    pub(crate) fn cut(&self, Scored { score, bin, missing_left }: Scored, terms: &CutTerms, rules: &Rules) -> Cut<S> {
        let start = self.missing.filter(|_| missing_left).unwrap_or_default();
        let left = self.populated[..=bin].iter().fold(start, |sum, bin| sum.plus(*bin));
        // A node without missing values does not determine their direction: they follow the majority of its rows.
        let missing_left = if self.missing.is_none() { is_larger(left.parts().1, terms.hess) } else { missing_left };
        Cut { worth: score * unit(rules), bin, missing_left, left }
    }
}

/// Cut with its score, which is its worth in units of the quantization steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) score: f64,
    bin: usize,
    missing_left: bool,
}

/// Returns the best allowed cut. `bins` are the value bins, `missing` is the missing-value bin.
pub(crate) fn best_cut<S: Sum>(
    bins: &[S],
    missing: Option<S>,
    node: &Totals<S>,
    rules: &Rules,
    prefixes: &mut Prefixes,
) -> Option<Cut<S>> {
    let bins = Bins::new(bins, missing)?;
    prefixes.fill(bins.populated);
    let terms = terms(node, rules);
    let best = bins.best(&terms, f64::NEG_INFINITY, prefixes)?;
    Some(bins.cut(best, &terms, rules))
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
        let (at, worth) = search(Backend::best(), &terms, f64::NEG_INFINITY, &self.sums.grads, &self.sums.hess)?;
        let left = first_bin(self.features[at]);
        let missing_left = is_larger(left.parts().1, terms.hess);
        Some((self.features[at], Cut { worth: worth * unit(rules), bin: 0, missing_left, left }))
    }
}

/// Returns the inputs of the score of a node's cuts.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn terms<S: Sum>(node: &Totals<S>, rules: &Rules) -> CutTerms {
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
