//! Search for the best split of a node over all features.

use super::category::best_choice;
use super::numeric::{Cut, Pairs, Prefixes, best_cut};
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
        let mut pairs = Pairs::default();
        let one = |&feature: &usize| {
            let bins = &histogram[bins(feature)];
            if bins.len() == 2 && !self.categorical[feature] && self.map.missing_bin(feature).is_none() {
                pairs.push(feature, bins);
                return None;
            }
            self.of_feature(feature, bins, node, &mut prefixes)
        };
        let best = features.iter().filter_map(one).reduce(Offer::better);
        let first_bin = |feature: usize| histogram[offsets[feature] as usize - first];
        let of_pairs = pairs.best(node, self.rules, first_bin).map(|(feature, cut)| self.offer(feature, cut));
        match (best, of_pairs) {
            (Some(best), Some(other)) => Some(best.better(other)),
            (best, other) => best.or(other),
        }
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
        best_cut(values, missing, node, self.rules, prefixes).map(|cut| self.offer(feature, cut))
    }

    fn offer<S>(&self, feature: usize, cut: Cut<S>) -> Offer<S> {
        let missing_left = cut.missing_left && !self.missing_last[feature];
        Offer { feature, worth: cut.worth, how: How::Cut { bin: cut.bin, missing_left }, left: cut.left }
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
