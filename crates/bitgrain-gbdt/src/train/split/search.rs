//! Search for the best split of a node over all features.

use super::category::best_choice;
use super::constrained::{self, Numeric, choice_gain, choice_worth, is_enough};
use super::numeric::{Bins, Cut, Pairs, Prefixes, TOGETHER, fill_together, terms, with_prefixes};
use super::{Rules, Totals};
use crate::feature::BinMap;
use crate::train::constrain::{Constraints, Scorer};
use crate::train::grow::{Sides, Sum};

/// Inputs of the search that do not depend on the node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) map: &'a BinMap,
    pub(crate) categorical: &'a [bool],
    /// Features whose missing values share the last bin, because they have no missing-value bin.
    pub(crate) missing_last: &'a [bool],
    pub(crate) rules: &'a Rules,
    /// Constraints that change gains; `None` for the vectorized search.
    pub(crate) constraints: Option<&'a Constraints>,
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
        if let Some(constraints) = self.constraints {
            let scorer = Scorer { rules: self.rules, constraints };
            return self.best_constrained(histogram, first, node, features, &scorer);
        }
        with_prefixes(|prefixes| self.best_unconstrained(histogram, first, node, features, prefixes))
    }

    fn best_unconstrained<S: Sum>(
        &self,
        histogram: &[S],
        first: usize,
        node: &Totals<S>,
        features: &[usize],
        prefixes: &mut [Prefixes; TOGETHER],
    ) -> Option<Offer<S>> {
        let offsets = self.map.feature_offsets();
        let bins = |feature: usize| offsets[feature] as usize - first..offsets[feature + 1] as usize - first;
        let mut pairs = Pairs::default();
        let mut waiting: Vec<(usize, Bins<'_, S>)> = Vec::with_capacity(TOGETHER);
        let terms = terms(node, self.rules);
        // The best numeric feature so far, and its score.
        let (mut best, mut floor): (Option<Offer<S>>, f64) = (None, f64::NEG_INFINITY);
        let mut best_category: Option<Offer<S>> = None;
        // In the order of the features, so that the first of equal ones stays.
        let mut consider = |feature: usize, bins: Bins<'_, S>, prefixes: &Prefixes| {
            let Some(scored) = bins.best(&terms, floor, prefixes) else { return };
            let offer = self.offer(feature, bins.cut(scored, &terms, self.rules));
            // Different scores may be the same worth.
            if best.as_ref().is_none_or(|best| offer.worth > best.worth) {
                (best, floor) = (Some(offer), scored.score);
            }
        };
        for &feature in features {
            let bins = &histogram[bins(feature)];
            if bins.len() == 2 && !self.categorical[feature] && self.map.missing_bin(feature).is_none() {
                pairs.push(feature, bins);
                continue;
            }
            let Some((values, missing)) = self.parts(feature, bins) else { continue };
            if self.categorical[feature] {
                let choice = best_choice((values, missing), node, self.rules, choice_worth(self.rules), None);
                let offer = choice.map(|choice| {
                    let how = How::Choice { bins: choice.bins };
                    Offer { feature, worth: choice.worth, how, left: choice.left }
                });
                best_category = Offer::best([best_category, offer]);
                continue;
            }
            waiting.extend(Bins::new(values, missing).map(|bins| (feature, bins)));
            if let [a, b, c, d] = waiting[..] {
                fill_together(prefixes, [a, b, c, d].map(|(_, bins)| bins.populated()));
                waiting.drain(..).zip(&*prefixes).for_each(|((feature, bins), sums)| consider(feature, bins, sums));
            }
        }
        for ((feature, bins), sums) in waiting.into_iter().zip(prefixes) {
            sums.fill(bins.populated());
            consider(feature, bins, sums);
        }
        let first_bin = |feature: usize| histogram[offsets[feature] as usize - first];
        let of_pairs = pairs.best(node, self.rules, first_bin).map(|(feature, cut)| self.offer(feature, cut));
        Offer::best([best, best_category, of_pairs])
    }

    /// The split of the best offer, if it gains enough.
    pub(crate) fn choose<S: Sum>(&self, best: Option<Offer<S>>, node: &Totals<S>) -> Option<Found<S>> {
        let best = best?;
        if self.constraints.is_some() {
            let gain = best.worth;
            return is_enough(gain, node, self.rules).then(|| self.found(best, gain));
        }
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

    /// Returns the value bins and the missing-value bin of a feature; `None` if there is nothing to split.
    fn parts<'h, S: Sum>(&self, feature: usize, bins: &'h [S]) -> Option<(&'h [S], Option<S>)> {
        let (values, missing) = match (self.map.missing_bin(feature), bins) {
            (Some(_), [values @ .., missing]) => (values, Some(*missing)),
            _ => (bins, None),
        };
        (!values.is_empty() && bins.len() >= 2).then_some((values, missing))
    }

    /// The best offer of some features under constraints; its worth is the gain.
    fn best_constrained<S: Sum>(
        &self,
        histogram: &[S],
        first: usize,
        node: &Totals<S>,
        features: &[usize],
        scorer: &Scorer<'_>,
    ) -> Option<Offer<S>> {
        let offsets = self.map.feature_offsets();
        let terms = scorer.terms(node);
        let mut buffers = constrained::Buffers::default();
        let one = |&feature: &usize| {
            let bins = &histogram[offsets[feature] as usize - first..offsets[feature + 1] as usize - first];
            let parts = self.parts(feature, bins)?;
            let mut offer = if self.categorical[feature] {
                let pick = scorer.pick(feature, &node.limits);
                let choice = best_choice(parts, node, self.rules, choice_gain(scorer, &terms), pick)?;
                Offer { feature, worth: choice.worth, how: How::Choice { bins: choice.bins }, left: choice.left }
            } else {
                let of = self.numeric(feature, parts);
                self.offer(feature, constrained::best_cut(of, (node, &terms), scorer, &mut buffers)?)
            };
            offer.worth = scorer.net(offer.worth, feature, &terms);
            Some(offer)
        };
        features.iter().filter_map(one).reduce(Offer::better)
    }

    /// Returns a given split of a node regardless of its gain; `None` if a child would be too small. `bin` is the last bin
    /// on the left, or the category on the left.
    pub(crate) fn forced<S: Sum>(
        &self,
        histogram: &[S],
        node: &Totals<S>,
        (feature, bin): (usize, usize),
        scorer: &Scorer<'_>,
    ) -> Option<Found<S>> {
        let offsets = self.map.feature_offsets();
        let (values, missing) =
            self.parts(feature, &histogram[offsets[feature] as usize..offsets[feature + 1] as usize])?;
        let terms = scorer.terms(node);
        let offer = if self.categorical[feature] {
            let left = *values.get(bin)?;
            let worth = scorer.gain(&terms, scorer.real(left), 0, 0.0)?;
            Offer { feature, worth, how: How::Choice { bins: vec![bin] }, left }
        } else {
            let of = self.numeric(feature, (values, missing));
            self.offer(feature, constrained::only_cut(of, &terms, scorer, bin)?)
        };
        let gain = scorer.net(offer.worth, feature, &terms);
        Some(self.found(offer, gain))
    }

    fn numeric<'h, S>(&self, feature: usize, (bins, missing): (&'h [S], Option<S>)) -> Numeric<'h, S> {
        Numeric { feature, bins, missing, missing_last: self.missing_last[feature] }
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
    /// Returns the best of some offers.
    pub(crate) fn best<const N: usize>(offers: [Option<Self>; N]) -> Option<Self> {
        offers.into_iter().flatten().reduce(Self::better)
    }

    /// Returns the better of two offers. Ties go to the first feature, so that the result does not depend on the
    /// threads.
    pub(crate) fn better(self, other: Self) -> Self {
        let first = self.worth > other.worth || (self.worth == other.worth && self.feature < other.feature);
        if first { self } else { other }
    }
}
