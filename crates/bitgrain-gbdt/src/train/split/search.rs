//! The best split over all features of a node.

use rayon::prelude::*;

use super::category::best_choice;
use super::numeric::best_cut;
use super::{Rules, Totals};
use crate::feature::BinMap;
use crate::train::grow::{Sides, Sum};

/// Bins that are worth a thread.
const BINS: usize = 1 << 13;

/// What splits are searched with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) map: &'a BinMap,
    pub(crate) categorical: &'a [bool],
    pub(crate) rules: &'a Rules,
}

/// A split that was found.
#[derive(Debug, Clone)]
pub(crate) struct Found<S> {
    pub(crate) gain: f64,
    pub(crate) sides: Sides,
    pub(crate) how: How,
    pub(crate) left: S,
}

/// How a split tells rows apart.
#[derive(Debug, Clone)]
pub(crate) enum How {
    /// Bins up to this one go left.
    Cut { bin: usize, missing_left: bool },
    /// These bins go left.
    Choice { bins: Vec<usize> },
}

impl Search<'_> {
    /// The best split of a node over some features; of equal ones, that of the first feature.
    pub(crate) fn best<S: Sum>(&self, histogram: &[S], node: &Totals<S>, features: &[usize]) -> Option<Found<S>> {
        let one = |&feature: &usize| self.of_feature(feature, histogram, node);
        let better = |a: Found<S>, b: Found<S>| {
            let first = a.gain > b.gain || (a.gain == b.gain && a.sides.feature < b.sides.feature);
            if first { a } else { b }
        };
        if histogram.len() < BINS {
            features.iter().filter_map(one).reduce(better)
        } else {
            features.par_iter().with_min_len(8).filter_map(one).reduce_with(better)
        }
    }

    fn of_feature<S: Sum>(&self, feature: usize, histogram: &[S], node: &Totals<S>) -> Option<Found<S>> {
        let (found, n_bins) = self.search(feature, histogram, node)?;
        let (grad, hess) = node.sum.parts();
        let whole = self.rules.worth(grad * self.rules.grad_step, hess * self.rules.hess_step, 0.0);
        let (worth, how, left) = found;
        let gain = worth - whole;
        if !(gain > self.rules.min_split_gain && gain > 1e-12 * whole) {
            return None;
        }
        let mut sides = Sides { feature, left: vec![false; n_bins] };
        match &how {
            How::Cut { bin, missing_left } => {
                sides.left[..=*bin].fill(true);
                if let Some(missing) = self.map.missing_bin(feature) {
                    sides.left[missing as usize] = *missing_left;
                }
            }
            How::Choice { bins } => bins.iter().for_each(|&bin| sides.left[bin] = true),
        }
        Some(Found { gain, sides, how, left })
    }

    fn search<S: Sum>(&self, feature: usize, histogram: &[S], node: &Totals<S>) -> Option<((f64, How, S), usize)> {
        let offsets = self.map.feature_offsets();
        let bins = &histogram[offsets[feature] as usize..offsets[feature + 1] as usize];
        let n_bins = bins.len();
        let (values, missing) = match self.map.missing_bin(feature) {
            Some(_) => (&bins[..n_bins - 1], Some(bins[n_bins - 1])),
            None => (bins, None),
        };
        if values.is_empty() || n_bins < 2 {
            return None;
        }
        let found = if self.categorical[feature] {
            let choice = best_choice(values, node, self.rules)?;
            (choice.worth, How::Choice { bins: choice.bins }, choice.left)
        } else {
            let cut = best_cut(values, missing, node, self.rules)?;
            (cut.worth, How::Cut { bin: cut.bin, missing_left: cut.missing_left }, cut.left)
        };
        Some((found, n_bins))
    }
}
