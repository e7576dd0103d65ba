//! Growth of a single tree.

mod arrangement;
mod best_first;
mod buffers;
mod divide;
mod histogram;
mod numbers;
mod partition;
mod search;
mod sequential;
mod shared;
mod symmetric;

use std::ops::Range;

pub(crate) use arrangement::{Arrangement, Sides};
pub(crate) use buffers::Buffers;
use buffers::Histogram;
pub(crate) use numbers::{Codes4, Codes8, Floats, Numbers, Sum};

use super::constrain::{Constraints, Limits, Scorer};
use super::slots::Plan;
use super::split::{Found, Rules, Search, Totals};
use super::team::Team;
use super::usage::Phase;
use super::{Growth, Params};
use crate::distributed::Peers;
use crate::gradient::Codes;
use crate::model::Child;
use crate::narrow::narrow;
use crate::random::mixed;

/// Inputs of the growth of a tree.
pub(crate) struct Grower<'a> {
    pub(crate) params: &'a Params,
    pub(crate) search: Search<'a>,
    pub(crate) rules: &'a Rules,
    pub(crate) constraints: Option<&'a Constraints>,
    /// Features sampled for this tree.
    pub(crate) features: &'a [usize],
    /// Seed of the feature sample of each node.
    pub(crate) seed: u64,
    pub(crate) peers: &'a Peers<'a>,
    /// Largest codes of gradients and hessians.
    pub(crate) codes: Codes,
}

/// Grown tree with the range of rows of each leaf.
#[derive(Debug)]
pub(crate) struct Grown<S> {
    pub(crate) splits: Vec<GrownSplit<S>>,
    pub(crate) leaves: Vec<GrownLeaf<S>>,
}

#[derive(Debug)]
pub(crate) struct GrownSplit<S> {
    pub(crate) found: Found<S>,
    pub(crate) totals: Totals<S>,
    pub(crate) left: Child,
    pub(crate) right: Child,
}

#[derive(Debug, Clone)]
pub(crate) struct GrownLeaf<S> {
    /// Rows of this process; `totals` counts those of all workers.
    pub(crate) rows: Range<usize>,
    pub(crate) totals: Totals<S>,
    /// Index of the parent split, and whether this is its left child.
    parent: Option<(usize, bool)>,
    depth: usize,
    /// Hash of the path from the root.
    way: u64,
}

impl Grower<'_> {
    /// Grows a tree on the rows of an arrangement. `sum` is the sum of their gradients, if known.
    pub(crate) fn grow<N: Numbers>(
        &self,
        team: &Team<'_>,
        rows: &mut Arrangement<'_, N::Pair>,
        sum: Option<N::Sum>,
        buffers: &Buffers<N::Sum>,
    ) -> Grown<N::Sum> {
        let n_rows = rows.order.len();
        // Without the rows outside the sample, so that every thread owns rows of the tree.
        rows.all = n_rows;
        let sum = sum.unwrap_or_else(|| {
            let parts = team.map(Phase::Histograms, rows.pairs.chunks(SUM_PART).collect(), sum_of_part::<N>);
            parts.into_iter().fold(N::Sum::default(), N::Sum::plus)
        });
        let (sum, all) = shared::sum_of_all(self.peers, sum, n_rows);
        let limits = self.scorer().map_or(Limits::FREE, |scorer| scorer.root(sum, all, self.seed));
        let totals = Totals { sum, rows: all, limits };
        let root = GrownLeaf { rows: 0..n_rows, totals, parent: None, depth: 0, way: 1 };
        let mut growing = Growing::<N> {
            grower: self,
            grown: Grown { splits: Vec::new(), leaves: vec![root] },
            wanted: self.wanted(),
            plan: rows.plan,
            buffers,
        };
        match self.params.growth {
            Growth::Symmetric => symmetric::grow(team, &mut growing, rows),
            _ if self.constraints.is_some_and(Constraints::is_sequential) => {
                sequential::grow(team, &mut growing, rows);
            }
            Growth::LeafWise | Growth::DepthWise => best_first::grow(team, &mut growing, rows),
        }
        growing.grown
    }

    fn wanted(&self) -> Vec<bool> {
        let mut wanted = vec![false; self.search.map.n_features()];
        self.features.iter().for_each(|&feature| wanted[feature] = true);
        // Forced splits do not depend on the sample of features.
        let forced = self.constraints.and_then(Constraints::forced);
        forced.iter().flat_map(|forced| &forced.splits).for_each(|split| wanted[split.feature] = true);
        wanted
    }

    /// Returns the scorer, if there are constraints.
    fn scorer(&self) -> Option<Scorer<'_>> {
        self.constraints.map(|constraints| Scorer { rules: self.rules, constraints })
    }

    /// Maximum number of splits from the root to a leaf.
    fn max_depth(&self) -> usize {
        match (self.params.max_depth, self.params.growth) {
            (Some(depth), _) => depth,
            // As many levels as `num_leaves` needs.
            (None, Growth::Symmetric) => self.params.num_leaves.next_power_of_two().trailing_zeros() as usize,
            (None, _) => usize::MAX,
        }
    }

    /// Returns the features that a node may use. The sample depends on the path, not on the order in which nodes are
    /// split.
    fn features_of(&self, way: u64, limits: &Limits) -> Vec<usize> {
        let share = self.params.colsample_bynode;
        let seed = self.seed ^ mixed(way);
        match self.constraints.and_then(Constraints::groups) {
            None if share >= 1.0 => self.features.to_vec(),
            None => super::sampling::sample_items(self.features, share, seed),
            Some(groups) => {
                let allowed = groups.allowed(limits.groups);
                let features: Vec<usize> =
                    self.features.iter().copied().filter(|each| allowed.binary_search(each).is_ok()).collect();
                if share >= 1.0 { features } else { super::sampling::sample_items(&features, share, seed) }
            }
        }
    }
}

/// Tree under construction.
struct Growing<'a, N: Numbers> {
    grower: &'a Grower<'a>,
    grown: Grown<N::Sum>,
    /// Features whose histograms are needed.
    wanted: Vec<bool>,
    plan: &'a Plan,
    buffers: &'a Buffers<N::Sum>,
}

impl<N: Numbers> Growing<'_, N> {
    /// Splits a leaf: the left child replaces it, the right child becomes a new leaf, whose index is returned. `middle`
    /// is the number of rows of the left child in this process.
    fn split(&mut self, leaf: usize, found: Found<N::Sum>, [left, right]: [Totals<N::Sum>; 2], middle: usize) -> usize {
        if let Some(constraints) = self.grower.constraints {
            constraints.mark_used(found.sides.feature);
        }
        let split = self.grown.splits.len();
        let new = self.grown.leaves.len();
        let GrownLeaf { rows, totals, parent, depth, way } = self.grown.leaves[leaf].clone();
        if let Some((parent, is_left)) = parent {
            let place = &mut self.grown.splits[parent];
            *(if is_left { &mut place.left } else { &mut place.right }) = Child::Split(narrow(split));
        }
        let child = |rows: Range<usize>, totals: Totals<N::Sum>, is_left: bool| GrownLeaf {
            rows,
            totals,
            parent: Some((split, is_left)),
            depth: depth + 1,
            way: child_path(way, is_left),
        };
        let middle = rows.start + middle;
        self.grown.leaves[leaf] = child(rows.start..middle, left, true);
        self.grown.leaves.push(child(middle..rows.end, right, false));
        let (left, right) = (Child::Leaf(narrow(leaf)), Child::Leaf(narrow(new)));
        self.grown.splits.push(GrownSplit { found, totals, left, right });
        new
    }

    /// Sets the limits of both children of a split.
    fn limit(&self, node: &Limits, found: &Found<N::Sum>, children: &mut [Totals<N::Sum>; 2]) {
        if let Some(scorer) = self.grower.scorer() {
            scorer.limit(node, found, children);
        }
    }

    /// Returns whether a node may be split: it is above the maximum depth and has rows for two children.
    fn may_split(&self, totals: &Totals<N::Sum>, depth: usize) -> bool {
        let min_rows = self.grower.params.min_child_samples.max(1).saturating_mul(2);
        depth < self.grower.max_depth() && totals.rows >= min_rows
    }
}

/// Extends a path hash to a child.
fn child_path(way: u64, is_left: bool) -> u64 {
    mixed(way.wrapping_mul(2) + u64::from(!is_left))
}

/// Number of rows per partial sum of gradients; float sums depend on it.
const SUM_PART: usize = 1 << 15;

/// Sums the gradients of some rows on the calling thread.
fn sum_of<N: Numbers>(pairs: &[N::Pair]) -> N::Sum {
    pairs.chunks(SUM_PART).map(sum_of_part::<N>).fold(N::Sum::default(), N::Sum::plus)
}

/// Sums the gradients of at most [`SUM_PART`] rows.
pub(crate) fn sum_of_part<N: Numbers>(pairs: &[N::Pair]) -> N::Sum {
    use bitgrain_kernels::histograms::GradientPair;
    // Four independent accumulators hide the latency of the additions.
    let mut sums = [N::Sum::default(); 4];
    let (fours, rest) = pairs.as_chunks::<4>();
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, pair)| N::flush(pair.add_to(N::Cell::default()), sum));
    }
    sums.iter_mut().zip(rest).for_each(|(sum, pair)| N::flush(pair.add_to(N::Cell::default()), sum));
    sums.into_iter().fold(N::Sum::default(), N::Sum::plus)
}
