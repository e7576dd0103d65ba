//! Search for the best cut of a numeric feature under constraints: every candidate has its own leaf values.

use super::numeric::{self, Cut, Prefixes, is_larger};
use super::{Rules, Totals};
use crate::train::constrain::{Bounds, CutBounds, NodeTerms, Scorer};
use crate::train::grow::Sum;

/// Numeric feature of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numeric<'a, S> {
    pub(crate) feature: usize,
    /// Value bins.
    pub(crate) bins: &'a [S],
    /// Missing-value bin.
    pub(crate) missing: Option<S>,
    /// Whether missing values share the last value bin.
    pub(crate) missing_last: bool,
}

/// Buffers of the search.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    prefixes: Prefixes,
    grads: Vec<f64>,
    hess: Vec<f64>,
    gains: Vec<f64>,
}

/// Returns the best allowed cut; its `worth` is the gain, before factors and costs.
pub(crate) fn best_cut<S: Sum>(
    of: Numeric<'_, S>,
    (node, terms): (&Totals<S>, &NodeTerms),
    scorer: &Scorer<'_>,
    buffers: &mut Buffers,
) -> Option<Cut<S>> {
    if let Some(random) = scorer.pick(of.feature, &terms.limits) {
        let (last, missing) = of.populated()?;
        let first = of.bins.iter().position(is_populated)?;
        let candidates = (last + usize::from(missing.is_some()) - first).max(1);
        #[expect(clippy::cast_possible_truncation, reason = "below the number of candidates")]
        return only_cut(of, terms, scorer, first + (random % candidates as u64) as usize);
    }
    let bounds = terms.neighbors.as_ref().and_then(|neighbors| neighbors.of_cuts(of.feature, of.bins.len()));
    let search = Candidates { of, terms, scorer, bounds };
    match search.unrestricted(node, &mut buffers.prefixes) {
        Unrestricted::None => None,
        Unrestricted::Allowed(cut) => Some(cut),
        Unrestricted::Unknown => search.best(buffers),
    }
}

/// Returns the better of both directions of missing values at a given cut, if it is allowed.
pub(crate) fn only_cut<S: Sum>(
    of: Numeric<'_, S>,
    terms: &NodeTerms,
    scorer: &Scorer<'_>,
    bin: usize,
) -> Option<Cut<S>> {
    let (last, missing) = of.populated()?;
    let bounds = terms.neighbors.as_ref().and_then(|neighbors| neighbors.of_cuts(of.feature, of.bins.len()));
    let search = Candidates { of, terms, scorer, bounds };
    let right = (bin < last + usize::from(missing.is_some())).then(|| search.cut(bin, false));
    let left = (missing.is_some() && bin < last).then(|| search.cut(bin, true));
    match (right.flatten(), left.flatten()) {
        (Some(right), Some(left)) if left.worth > right.worth => Some(left),
        (right, left) => right.or(left),
    }
}

fn is_populated<S: Sum>(sum: &S) -> bool {
    *sum != S::default()
}

impl<S: Sum> Numeric<'_, S> {
    /// Returns the last populated bin, and the missing values if there are any. As without constraints: a cut after all
    /// rows would leave a right child that consists of the rounding error.
    fn populated(&self) -> Option<(usize, Option<S>)> {
        Some((self.bins.iter().rposition(is_populated)?, self.missing.filter(is_populated)))
    }
}

/// Best cut if no constraint restricted it.
enum Unrestricted<S> {
    /// No cut is allowed.
    None,
    /// No constraint restricts the cut, so that it is the best one under constraints, too.
    Allowed(Cut<S>),
    /// Another cut may be better.
    Unknown,
}

/// All cuts of a feature.
struct Candidates<'a, S> {
    of: Numeric<'a, S>,
    terms: &'a NodeTerms,
    scorer: &'a Scorer<'a>,
    /// Bounds of the children, if they differ from those of the node.
    bounds: Option<CutBounds>,
}

impl<S: Sum> Candidates<'_, S> {
    /// Searches with the vectorized kernel, whose worth is at least the gain under constraints.
    fn unrestricted(&self, node: &Totals<S>, prefixes: &mut Prefixes) -> Unrestricted<S> {
        if self.scorer.smooths() {
            return Unrestricted::Unknown;
        }
        let Numeric { bins, missing, .. } = self.of;
        let Some(cut) = numeric::best_cut(bins, missing, node, self.scorer.rules, prefixes) else {
            return Unrestricted::None;
        };
        let left = self.scorer.real(cut.left);
        let bounds = self.bounds_of(cut.bin, cut.missing_left, left.1);
        let direction = self.scorer.direction_of_cut(self.of.feature, cut.bin);
        if !self.scorer.is_unrestricted(self.terms, left, bounds, direction) {
            return Unrestricted::Unknown;
        }
        self.cut(cut.bin, cut.missing_left).map_or(Unrestricted::Unknown, Unrestricted::Allowed)
    }

    /// Computes the gains of all cuts.
    fn best(&self, buffers: &mut Buffers) -> Option<Cut<S>> {
        let (last, missing) = self.of.populated()?;
        let Buffers { grads, hess, gains, .. } = buffers;
        grads.clear();
        hess.clear();
        let mut sum = S::default();
        for &bin in &self.of.bins[..last] {
            sum = sum.plus(bin);
            let (grad, of_hess) = self.scorer.real(sum);
            grads.push(grad);
            hess.push(of_hess);
        }
        let direction = self.scorer.direction_of_cut(self.of.feature, 0);
        let free = self.bounds.as_ref().is_none_or(CutBounds::frees_missing);
        let mut best: Option<(f64, usize, bool)> = None;
        for missing_left in [false, true] {
            let beside = match missing {
                Some(missing) if missing_left => self.scorer.real(missing),
                None if missing_left => break,
                _ => (0.0, 0.0),
            };
            gains.resize(last, 0.0);
            let sums = grads.iter().zip(&*hess).map(|(grad, hess)| (grad + beside.0, hess + beside.1));
            match &self.bounds {
                None => {
                    let node = [(self.terms.limits.low, self.terms.limits.high); 2];
                    self.scorer.gains(self.terms, sums.zip(std::iter::repeat(node)), direction, gains);
                }
                Some(bounds) if missing.is_some() || free => {
                    self.scorer.gains(self.terms, sums.zip(bounds.all(missing_left)), direction, gains);
                }
                // The side of missing values depends on the cut.
                Some(_) => {
                    let bounds = hess.iter().enumerate().map(|(bin, &hess)| self.bounds_of(bin, false, hess));
                    self.scorer.gains(self.terms, sums.zip(bounds), direction, gains);
                }
            }
            for (bin, &gain) in gains.iter().enumerate() {
                if gain > best.map_or(f64::NEG_INFINITY, |best| best.0) {
                    best = Some((gain, bin, missing_left));
                }
            }
        }
        let best = best.and_then(|(_, bin, missing_left)| self.cut(bin, missing_left));
        // Values on the left, missing values on the right: no direction restricts this cut.
        let apart = missing.and_then(|_| self.cut(last, false));
        match (best, apart) {
            (Some(best), Some(apart)) if apart.worth > best.worth => Some(apart),
            (best, apart) => best.or(apart),
        }
    }

    /// Returns a cut with its exact gain, if it is allowed.
    fn cut(&self, bin: usize, missing_left: bool) -> Option<Cut<S>> {
        let (last, missing) = self.of.populated()?;
        let start = missing.filter(|_| missing_left).unwrap_or_default();
        let left = self.of.bins[..=bin].iter().fold(start, |sum, &bin| sum.plus(bin));
        // Only missing values are on the right of the last populated bin. The cut moves after all value bins, where it
        // does not separate numbers, so that no direction restricts it.
        let bin = if bin == last { self.of.bins.len() - 1 } else { bin };
        let direction = self.scorer.direction_of_cut(self.of.feature, bin);
        let sums = self.scorer.real(left);
        let worth =
            self.scorer.gain_within(self.terms, sums, direction, 0.0, self.bounds_of(bin, missing_left, sums.1))?;
        let missing_left = if missing.is_none() { is_larger(sums.1, self.terms.hess) } else { missing_left };
        Some(Cut { worth, bin, missing_left, left })
    }

    fn bounds_of(&self, bin: usize, missing_left: bool, left_hess: f64) -> [Bounds; 2] {
        let Some(bounds) = &self.bounds else { return [(self.terms.limits.low, self.terms.limits.high); 2] };
        let has_missing = self.of.missing.is_some_and(|missing| is_populated(&missing));
        // Without missing values in the node, they go to the larger child.
        let without = || !self.of.missing_last && is_larger(left_hess, self.terms.hess);
        bounds.of(bin, if has_missing { missing_left } else { without() })
    }
}

/// Returns the scores of sets of categories under constraints.
pub(crate) fn choice_gain<'a>(
    scorer: &'a Scorer<'a>,
    node: &'a NodeTerms,
) -> impl Fn((f64, f64), (f64, f64), f64) -> Option<f64> + 'a {
    |left, _, extra_l2| scorer.gain(node, left, 0, extra_l2)
}

/// Returns the scores of sets of categories without constraints.
pub(crate) fn choice_worth(rules: &Rules) -> impl Fn((f64, f64), (f64, f64), f64) -> Option<f64> {
    |left, right, extra_l2| Some(rules.worth(left.0, left.1, extra_l2) + rules.worth(right.0, right.1, extra_l2))
}

/// Returns whether a gain is not noise: more than the rounding error of the node's sums.
pub(crate) fn is_enough<S: Sum>(gain: f64, node: &Totals<S>, rules: &Rules) -> bool {
    let (grad, hess) = node.sum.parts();
    let whole = rules.worth(grad * rules.grad_step, hess * rules.hess_step, 0.0);
    gain > rules.min_split_gain && gain > 1e-12 * whole
}
