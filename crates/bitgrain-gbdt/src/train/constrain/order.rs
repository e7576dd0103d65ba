//! `LeafOrder`: pairs of leaves whose values a monotone feature puts in order.
//!
//! Two leaves are in order if rows that differ in one monotone feature only can reach them: their regions are separate
//! in that feature and overlap in all others.

use std::sync::Arc;

use super::Neighbors;
use crate::train::grow::Sum;
use crate::train::split::{Found, How};

/// Parts of the features on the path to a leaf, sorted by feature.
pub(super) type Region = Vec<(usize, Part)>;

/// Values of a feature that lead to a leaf. Features that a path does not use are not listed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Value bins from `first` to `last`, and perhaps missing values.
    Range { first: usize, last: usize, missing: bool },
    /// A set of bins of a categorical feature; the last one stands for all values that are not known categories.
    Bins(Vec<bool>),
}

impl Part {
    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Range { first, last, missing },
                Self::Range { first: other_first, last: other_last, missing: too },
            ) => (*missing && *too) || *first.max(other_first) <= *last.min(other_last),
            (Self::Bins(a), Self::Bins(b)) => a.iter().zip(b).any(|(a, b)| *a && *b),
            _ => true,
        }
    }

    /// Returns whether all numbers of this part are below all numbers of another, if both have any.
    fn is_below(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range { first, last, .. }, Self::Range { first: other_first, last: other_last, .. }) => {
                first <= last && other_first <= other_last && last < other_first
            }
            _ => false,
        }
    }

    /// Returns the parts of the left and the right child.
    fn split(part: Option<&Self>, how: &How, sides: &[bool], last_bin: usize) -> [Self; 2] {
        match how {
            How::Cut { bin, missing_left } => {
                let (first, last, missing) = match part {
                    Some(Self::Range { first, last, missing }) => (*first, *last, *missing),
                    _ => (0, last_bin, true),
                };
                [
                    Self::Range { first, last: last.min(*bin), missing: missing && *missing_left },
                    Self::Range { first: first.max(bin + 1), last, missing: missing && !*missing_left },
                ]
            }
            How::Choice { .. } => {
                // One more than the bins: values that are not known categories, which go right.
                let left = sides.iter().copied().chain([false]);
                let all = |_| true;
                let within: Vec<bool> = match part {
                    Some(Self::Bins(bins)) => bins.clone(),
                    _ => (0..=sides.len()).map(all).collect(),
                };
                [true, false].map(|is_left| {
                    Self::Bins(left.clone().zip(&within).map(|(left, &within)| within && left == is_left).collect())
                })
            }
        }
    }
}

/// Pairs of leaves whose values are in order.
#[derive(Debug)]
pub(crate) struct LeafOrder<'a> {
    directions: &'a [i8],
    /// Last value bin of each feature.
    last_bins: &'a [usize],
    regions: Vec<Arc<Region>>,
    /// Leaves that each leaf is in order with, and whether their values are at least as large.
    related: Vec<Vec<(usize, bool)>>,
}

impl<'a> LeafOrder<'a> {
    /// Creates the order of a tree that is a single leaf.
    pub(super) fn new(directions: &'a [i8], last_bins: &'a [usize]) -> Self {
        Self { directions, last_bins, regions: vec![Arc::default()], related: vec![Vec::new()] }
    }

    /// Splits a leaf: the left child replaces it, the right child is a new leaf. Returns the leaves whose bounds may
    /// have changed.
    pub(crate) fn split<S: Sum>(&mut self, leaf: usize, found: &Found<S>) -> Vec<usize> {
        let last_bin = self.last_bins[found.sides.feature];
        let [left, right] = split_region(&self.regions[leaf], found, last_bin).map(Arc::new);
        let new = self.regions.len();
        self.regions[leaf] = left;
        self.regions.push(right);
        let before = std::mem::take(&mut self.related[leaf]);
        self.related.push(Vec::new());
        for &(other, _) in &before {
            self.related[other].retain(|&(related, _)| related != leaf);
            self.relate(leaf, other);
            self.relate(new, other);
        }
        self.relate(leaf, new);
        let mut changed: Vec<usize> = before.into_iter().map(|(other, _)| other).chain([leaf, new]).collect();
        changed.sort_unstable();
        changed
    }

    fn relate(&mut self, leaf: usize, other: usize) {
        if let Some((is_larger, _)) = compare(self.directions, &self.regions[leaf], &self.regions[other]) {
            self.related[leaf].push((other, is_larger));
            self.related[other].push((leaf, !is_larger));
        }
    }

    /// Returns the bounds of a leaf that follow from the values of others.
    pub(crate) fn bounds(&self, leaf: usize, value: impl Fn(usize) -> f64) -> (f64, f64) {
        self.related[leaf].iter().fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), &(other, is_larger)| {
            if is_larger { (low, high.min(value(other))) } else { (low.max(value(other)), high) }
        })
    }

    /// Returns the leaves that are in order with a leaf, and their values.
    pub(crate) fn neighbors(&self, leaf: usize, value: impl Fn(usize) -> f64) -> Option<Neighbors> {
        let others = self.related[leaf].iter().map(|&(other, _)| (Arc::clone(&self.regions[other]), value(other)));
        Neighbors::new(self.directions, &self.regions[leaf], others)
    }

    /// Returns the leaves in order with a leaf whose values are at least as large, or at most as large.
    pub(super) fn beside(&self, leaf: usize, larger: bool) -> impl Iterator<Item = usize> {
        self.related[leaf].iter().filter(move |(_, is_larger)| *is_larger == larger).map(|(other, _)| *other)
    }
}

/// Returns the regions of the left and the right child of a split.
pub(super) fn split_region<S: Sum>(region: &Region, found: &Found<S>, last_bin: usize) -> [Region; 2] {
    let feature = found.sides.feature;
    let at = region.partition_point(|(other, _)| *other < feature);
    let own = region.get(at).filter(|(other, _)| *other == feature).map(|(_, part)| part);
    let is_listed = own.is_some();
    Part::split(own, &found.how, &found.sides.left, last_bin).map(|part| {
        let mut region = region.clone();
        if is_listed {
            region[at].1 = part;
        } else {
            region.insert(at, (feature, part));
        }
        region
    })
}

/// Returns whether the value of the second leaf is at least as large, and the feature that puts the leaves in order;
/// `None` if they are not in order.
pub(super) fn compare(directions: &[i8], leaf: &Region, other: &Region) -> Option<(bool, usize)> {
    let mut order = None;
    let (mut at, mut of_other) = (0, 0);
    while at < leaf.len() && of_other < other.len() {
        let ((feature, part), (with, its)) = (&leaf[at], &other[of_other]);
        match feature.cmp(with) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => of_other += 1,
            std::cmp::Ordering::Equal => {
                if !part.overlaps(its) {
                    let direction = directions[*feature];
                    let is_below = part.is_below(its);
                    // Separate in two features: no row passes from one to the other by changing one of them.
                    if order.is_some() || direction == 0 || !(is_below || its.is_below(part)) {
                        return None;
                    }
                    order = Some((is_below == (direction > 0), *feature));
                }
                at += 1;
                of_other += 1;
            }
        }
    }
    order
}
