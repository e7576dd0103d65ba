//! Growth of a single tree.

mod arrangement;
mod best_first;
mod histogram;
mod numbers;
mod symmetric;

use std::ops::Range;

use rayon::prelude::*;

pub(crate) use arrangement::{Arrangement, Sides};
use histogram::{Histogram, build, subtract};
pub(crate) use numbers::{Codes4, Codes8, Floats, Numbers, Sum};

use super::split::{Found, Rules, Search, Totals};
use super::{Growth, Params};
use crate::model::Child;
use crate::narrow::narrow;
use crate::random::mixed;

/// Inputs of the growth of a tree.
pub(crate) struct Grower<'a> {
    pub(crate) params: &'a Params,
    pub(crate) search: Search<'a>,
    pub(crate) rules: &'a Rules,
    /// Features sampled for this tree.
    pub(crate) features: &'a [usize],
    /// Seed of the feature sample of each node.
    pub(crate) seed: u64,
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
    pub(crate) rows: Range<usize>,
    pub(crate) totals: Totals<S>,
    /// Index of the parent split, and whether this is its left child.
    parent: Option<(usize, bool)>,
    depth: usize,
    /// Hash of the path from the root.
    way: u64,
}

impl Grower<'_> {
    /// Grows a tree on the rows of an arrangement.
    pub(crate) fn grow<N: Numbers>(&self, rows: &mut Arrangement<'_, N::Pair>) -> Grown<N::Sum> {
        let n_rows = rows.order.len();
        let totals = Totals { sum: sum_of::<N>(rows.pairs), rows: n_rows };
        let root = GrownLeaf { rows: 0..n_rows, totals, parent: None, depth: 0, way: 1 };
        let mut growing = Growing::<N> {
            grower: self,
            grown: Grown { splits: Vec::new(), leaves: vec![root] },
            wanted: self.wanted(),
        };
        match self.params.growth {
            Growth::Symmetric => symmetric::grow(&mut growing, rows),
            Growth::LeafWise | Growth::DepthWise => best_first::grow(&mut growing, rows),
        }
        growing.grown
    }

    fn wanted(&self) -> Vec<bool> {
        let mut wanted = vec![false; self.search.map.n_features()];
        self.features.iter().for_each(|&feature| wanted[feature] = true);
        wanted
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
    fn features_of(&self, way: u64) -> Vec<usize> {
        let share = self.params.colsample_bynode;
        if share >= 1.0 {
            return self.features.to_vec();
        }
        super::sampling::some_of(self.features, share, self.seed ^ mixed(way))
    }
}

/// Tree under construction.
struct Growing<'a, N: Numbers> {
    grower: &'a Grower<'a>,
    grown: Grown<N::Sum>,
    /// Features whose histograms are needed.
    wanted: Vec<bool>,
}

impl<N: Numbers> Growing<'_, N> {
    /// Splits a leaf: the left child replaces it, the right child becomes a new leaf, whose index is returned.
    fn divide(&mut self, leaf: usize, found: Found<N::Sum>, [left, right]: [Totals<N::Sum>; 2]) -> usize {
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
            way: way_on(way, is_left),
        };
        let middle = rows.start + left.rows;
        self.grown.leaves[leaf] = child(rows.start..middle, left, true);
        self.grown.leaves.push(child(middle..rows.end, right, false));
        let (left, right) = (Child::Leaf(narrow(leaf)), Child::Leaf(narrow(new)));
        self.grown.splits.push(GrownSplit { found, totals, left, right });
        new
    }

    /// Builds the histogram of a range of rows, reusing the memory of `histogram`.
    fn histogram(
        &self,
        rows: &Arrangement<'_, N::Pair>,
        range: Range<usize>,
        mut histogram: Histogram<N::Sum>,
    ) -> Histogram<N::Sum> {
        let map = self.grower.search.map;
        histogram.clear();
        histogram.resize(map.total_bins() as usize, N::Sum::default());
        build::<N>(rows, map, range, &self.wanted, &mut histogram);
        histogram
    }
}

/// Returns the sums of both children; the rows up to `middle` are those of the left child.
fn children<N: Numbers>(
    node: &Totals<N::Sum>,
    found_left: N::Sum,
    pairs: &[N::Pair],
    middle: usize,
) -> [Totals<N::Sum>; 2] {
    // Histogram bins of floats carry rounding errors of rows that went the other way, which may exceed a small child's
    // sum. So the smaller child is summed directly; integer sums are exact anyway.
    let (left, right) = if !N::EXACT {
        (found_left, node.sum.minus(found_left))
    } else if middle <= pairs.len() - middle {
        let left = sum_of::<N>(&pairs[..middle]);
        (left, node.sum.minus(left))
    } else {
        let right = sum_of::<N>(&pairs[middle..]);
        (node.sum.minus(right), right)
    };
    [Totals { sum: left, rows: middle }, Totals { sum: right, rows: pairs.len() - middle }]
}

/// Extends a path hash to a child.
fn way_on(way: u64, is_left: bool) -> u64 {
    mixed(way.wrapping_mul(2) + u64::from(!is_left))
}

/// Sums the gradients of some rows, in parts that do not depend on the number of threads.
fn sum_of<N: Numbers>(pairs: &[N::Pair]) -> N::Sum {
    use bitgrain_kernels::histograms::GradientPair;
    const PART: usize = 1 << 15;
    // Four independent accumulators hide the latency of the additions.
    let of_part = |pairs: &[N::Pair]| {
        let mut sums = [N::Sum::default(); 4];
        let (fours, rest) = pairs.as_chunks::<4>();
        for four in fours {
            sums.iter_mut().zip(four).for_each(|(sum, pair)| N::flush(pair.add_to(N::Cell::default()), sum));
        }
        sums.iter_mut().zip(rest).for_each(|(sum, pair)| N::flush(pair.add_to(N::Cell::default()), sum));
        sums.into_iter().fold(N::Sum::default(), N::Sum::plus)
    };
    if pairs.len() <= PART {
        return of_part(pairs);
    }
    let parts: Vec<N::Sum> = pairs.par_chunks(PART).map(of_part).collect();
    parts.into_iter().fold(N::Sum::default(), N::Sum::plus)
}
