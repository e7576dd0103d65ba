//! Searching the splits of many nodes at once: each task has some features of one node.

use std::ops::Range;

use super::buffers::Histogram;
use super::histogram::{Partial, merge, subtract};
use super::{Growing, Numbers, Totals};
use crate::train::split::{Found, Offer};
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Minimum number of bins per task: about ten microseconds for two children.
const BINS: usize = 1 << 11;

/// Node whose split is searched.
pub(super) struct Child<'a, S> {
    totals: Totals<S>,
    /// First row of the node or of its parent.
    first: usize,
    /// Features to search; `None` if the node is not split.
    features: Option<Vec<usize>>,
    histogram: &'a mut Histogram<S>,
    /// Partial sums to merge into the histogram first.
    partials: Option<&'a [Partial<S>]>,
}

impl<'a, S: super::Sum> Child<'a, S> {
    pub(super) fn of<N: Numbers<Sum = S>>(
        growing: &Growing<'_, N>,
        totals: Totals<S>,
        way: u64,
        histogram: &'a mut Histogram<S>,
    ) -> Self {
        let features = Some(growing.grower.features_of(way, &totals.limits));
        Self { totals, first: 0, features, histogram, partials: None }
    }

    /// Sets the first row of the node or of its parent: the threads that own their rows search them.
    pub(super) fn starting_at(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// Skips the search unless `may_split`: only the histogram is needed then.
    pub(super) fn only_if(mut self, may_split: bool) -> Self {
        self.features = self.features.filter(|_| may_split);
        self
    }

    /// Merges the histogram from partial sums before the search, unless the sums of all workers are in it.
    pub(super) fn merging_alone<N: Numbers<Sum = S>>(
        self,
        growing: &Growing<'_, N>,
        partials: &'a [Partial<S>],
    ) -> Self {
        if growing.grower.peers.are_alone() { self.merging(partials) } else { self }
    }

    /// Merges the histogram from partial sums before the search.
    pub(super) fn merging(mut self, partials: &'a [Partial<S>]) -> Self {
        self.partials = Some(partials);
        self
    }
}

/// A node and, unless it is a root, its sibling: the smaller child first.
pub(super) type Siblings<'a, S> = (Child<'a, S>, Option<Child<'a, S>>);

/// The best split of each of two siblings.
pub(super) type Splits<S> = (Option<Found<S>>, Option<Found<S>>);

/// A child, some of its features, and their bins.
struct Side<'a, S> {
    totals: Totals<S>,
    features: &'a [usize],
    bins: &'a mut [S],
}

struct Task<'a, S> {
    /// Row that decides which thread searches: the features of a node are spread over its rows.
    row: usize,
    /// All features of the bins.
    group: Range<usize>,
    partials: Option<&'a [Partial<S>]>,
    small: Side<'a, S>,
    large: Option<Side<'a, S>>,
}

/// Finds the best splits of nodes. The histogram of a second child is its parent's when the search starts; the first
/// child's is subtracted from it.
pub(super) fn search<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    mut nodes: Vec<Siblings<'_, N::Sum>>,
) -> Vec<Splits<N::Sum>> {
    let groups = groups(growing);
    let mut tasks = Vec::with_capacity(nodes.len() * groups.len());
    for (small, large) in &mut nodes {
        let partials = small.partials;
        let (first, n_rows) = (small.first, small.totals.rows + large.as_ref().map_or(0, |large| large.totals.rows));
        let mut smalls = sides(growing, small, &groups);
        let mut larges = large.as_mut().map(|large| sides(growing, large, &groups));
        for (at, group) in groups.iter().enumerate() {
            let (Some(small), large) = (smalls.next(), larges.as_mut().and_then(Iterator::next)) else { break };
            tasks.push(Task { row: first + n_rows * at / groups.len(), group: group.clone(), partials, small, large });
        }
    }
    let all = growing.grown.leaves.iter().map(|leaf| leaf.totals.rows).sum();
    let load = |task: &Task<'_, N::Sum>| (task.row, task.small.bins.len());
    let mut offers = team.map_rows(Phase::Search, all, tasks, load, |task| task.run(growing)).into_iter();
    let search = &growing.grower.search;
    let decide = |(small, large): &Siblings<'_, N::Sum>| {
        let better = |a: Option<Offer<_>>, b: Option<Offer<_>>| match (a, b) {
            (Some(a), Some(b)) => Some(a.better(b)),
            (a, b) => a.or(b),
        };
        let of_groups = offers.by_ref().take(groups.len());
        let (first, second) = of_groups.fold((None, None), |(a, b), (c, d)| (better(a, c), better(b, d)));
        let second = large.as_ref().and_then(|large| search.choose(second, &large.totals));
        (search.choose(first, &small.totals), second)
    };
    nodes.iter().map(decide).collect()
}

/// Finds the best splits of a node and its sibling on the calling thread.
pub(super) fn search_alone<N: Numbers>(
    growing: &Growing<'_, N>,
    (mut small, mut large): Siblings<'_, N::Sum>,
) -> Splits<N::Sum> {
    let search = &growing.grower.search;
    let every = 0..search.map.n_features();
    let all = std::slice::from_ref(&every);
    let (of_small, partials) = (small.totals, small.partials);
    let of_large = large.as_ref().map(|large| large.totals);
    let Some(own) = sides(growing, &mut small, all).next() else { return (None, None) };
    let other = large.as_mut().and_then(|large| sides(growing, large, all).next());
    let (first, second) = Task { row: 0, group: every.clone(), partials, small: own, large: other }.run(growing);
    (search.choose(first, &of_small), of_large.and_then(|totals| search.choose(second, &totals)))
}

/// Returns whether searching a node takes no longer than waking another thread.
pub(super) fn is_short<N: Numbers>(growing: &Growing<'_, N>) -> bool {
    growing.grower.search.map.total_bins() as usize <= 4 * BINS
}

/// Divides the features into runs of about [`BINS`] bins.
fn groups<N: Numbers>(growing: &Growing<'_, N>) -> Vec<Range<usize>> {
    let map = growing.grower.search.map;
    let offsets = map.feature_offsets();
    let mut groups = Vec::new();
    let mut start = 0;
    for feature in 0..map.n_features() {
        let is_last = feature + 1 == map.n_features();
        if is_last || (offsets[feature + 1] - offsets[start]) as usize >= BINS {
            groups.push(start..feature + 1);
            start = feature + 1;
        }
    }
    groups
}

/// Returns the part of a child that belongs to each group of features.
fn sides<'t, N: Numbers>(
    growing: &'t Growing<'_, N>,
    child: &'t mut Child<'_, N::Sum>,
    groups: &'t [Range<usize>],
) -> impl Iterator<Item = Side<'t, N::Sum>> {
    let offsets = growing.grower.search.map.feature_offsets();
    let totals = child.totals;
    let mut features = child.features.as_deref().unwrap_or_default();
    let mut bins: &mut [_] = &mut child.histogram[..];
    groups.iter().map(move |group| {
        let (of_group, others) = features.split_at(features.partition_point(|&feature| feature < group.end));
        features = others;
        let len = (offsets[group.end] - offsets[group.start]) as usize;
        let (of_bins, others) = std::mem::take(&mut bins).split_at_mut(len);
        bins = others;
        Side { totals, features: of_group, bins: of_bins }
    })
}

impl<S: super::Sum> Task<'_, S> {
    fn run<N: Numbers<Sum = S>>(self, growing: &Growing<'_, N>) -> (Option<Offer<S>>, Option<Offer<S>>) {
        let search = &growing.grower.search;
        let offsets = search.map.feature_offsets();
        let first = offsets[self.group.start] as usize;
        let small = self.small.bins;
        if let Some(partials) = self.partials {
            for feature in self.group.filter(|&feature| growing.wanted[feature]) {
                let bins = offsets[feature] as usize - first..offsets[feature + 1] as usize - first;
                merge(growing.plan.places[feature], partials, &mut small[bins]);
            }
        }
        let of_large = self.large.and_then(|large| {
            subtract(large.bins, small);
            search.best_offer(large.bins, first, &large.totals, large.features)
        });
        (search.best_offer(small, first, &self.small.totals, self.small.features), of_large)
    }
}
