//! Search for the best split of a node over all features.

use super::category::best_choice;
use super::numeric::{Prefixes, best_cut};
use super::{Rules, Totals};
use crate::feature::BinMap;
use crate::train::grow::{Sides, Sum};

/// Inputs of the search that do not depend on the node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) map: &'a BinMap,
    pub(crate) categorical: &'a [bool],
    /// Features whose missing values share the last bin, because they have no missing-value bin.
    pub(crate) missing_last: &'a [bool],
    pub(crate) rules: &'a Rules,
}

/// Best split found for a node.
#[derive(Debug, Clone)]
pub(crate) struct Found<S> {
    pub(crate) gain: f64,
    pub(crate) sides: Sides,
    pub(crate) how: How,
    pub(crate) left: S,
}

/// Criterion of a split.
#[derive(Debug, Clone)]
pub(crate) enum How {
    /// Bins up to this one go left.
    Cut { bin: usize, missing_left: bool },
    /// These bins go left; a set of categories.
    Choice { bins: Vec<usize> },
}

impl Search<'_> {
    /// Returns the best split of a node over the given features. Ties go to the first feature.
    pub(crate) fn best<S: Sum>(&self, histogram: &[S], node: &Totals<S>, features: &[usize]) -> Option<Found<S>> {
        self.choose(self.best_offer(histogram, 0, node, features), node)
    }

    /// The best offer of some features, without a decision whether it gains enough. The histogram starts with global
    /// bin `first`.
    pub(crate) fn best_offer<S: Sum>(
        &self,
        histogram: &[S],
        first: usize,
        node: &Totals<S>,
        features: &[usize],
    ) -> Option<Offer<S>> {
        let mut prefixes = Prefixes::default();
        let offsets = self.map.feature_offsets();
        let bins = |feature: usize| offsets[feature] as usize - first..offsets[feature + 1] as usize - first;
        let one = |&feature: &usize| self.of_feature(feature, &histogram[bins(feature)], node, &mut prefixes);
        features.iter().filter_map(one).reduce(Offer::better)
    }

    /// The split of the best offer, if it gains enough.
    pub(crate) fn choose<S: Sum>(&self, best: Option<Offer<S>>, node: &Totals<S>) -> Option<Found<S>> {
        let best = best?;
        let (grad, hess) = node.sum.parts();
        let whole = self.rules.worth(grad * self.rules.grad_step, hess * self.rules.hess_step, 0.0);
        let gain = best.worth - whole;
        // A gain within the rounding error of the sums is noise.
        let enough = gain > self.rules.min_split_gain && gain > 1e-12 * whole;
        enough.then(|| self.found(best, gain))
    }

    fn found<S: Sum>(&self, Offer { feature, how, left, .. }: Offer<S>, gain: f64) -> Found<S> {
        let mut sides = Sides { feature, left: vec![false; self.map.n_bins(feature) as usize] };
        match &how {
            How::Cut { bin, missing_left } => {
                sides.left[..=*bin].fill(true);
                if let Some(missing) = self.map.missing_bin(feature) {
                    sides.left[missing as usize] = *missing_left;
                }
            }
            How::Choice { bins } => bins.iter().for_each(|&bin| sides.left[bin] = true),
        }
        Found { gain, sides, how, left }
    }

    fn of_feature<S: Sum>(
        &self,
        feature: usize,
        bins: &[S],
        node: &Totals<S>,
        prefixes: &mut Prefixes,
    ) -> Option<Offer<S>> {
        let n_bins = bins.len();
        let (values, missing) = match self.map.missing_bin(feature) {
            Some(_) => (&bins[..n_bins - 1], Some(bins[n_bins - 1])),
            None => (bins, None),
        };
        if values.is_empty() || n_bins < 2 {
            return None;
        }
        if self.categorical[feature] {
            let choice = best_choice(values, missing, node, self.rules)?;
            let how = How::Choice { bins: choice.bins };
            return Some(Offer { feature, worth: choice.worth, how, left: choice.left });
        }
        let cut = best_cut(values, missing, node, self.rules, prefixes)?;
        let missing_left = cut.missing_left && !self.missing_last[feature];
        let how = How::Cut { bin: cut.bin, missing_left };
        Some(Offer { feature, worth: cut.worth, how, left: cut.left })
    }
}

/// Best split of one feature.
pub(crate) struct Offer<S> {
    feature: usize,
    worth: f64,
    how: How,
    left: S,
}

impl<S> Offer<S> {
    /// Returns the better of two offers. Ties go to the first feature, so that the result does not depend on the
    /// threads.
    pub(crate) fn better(self, other: Self) -> Self {
        let first = self.worth > other.worth || (self.worth == other.worth && self.feature < other.feature);
        if first { self } else { other }
    }
}
