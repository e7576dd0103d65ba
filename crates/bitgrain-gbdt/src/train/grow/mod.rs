//! Growing one tree.

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

/// What a tree is grown with.
pub(crate) struct Grower<'a> {
    pub(crate) params: &'a Params,
    pub(crate) search: Search<'a>,
    pub(crate) rules: &'a Rules,
    /// Features this tree may use.
    pub(crate) features: &'a [usize],
    /// Chooses the features of each node.
    pub(crate) seed: u64,
}

/// A tree whose leaves still lie together in the arrangement.
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
    /// The split it hangs on, and whether to its left.
    parent: Option<(usize, bool)>,
    depth: usize,
    /// A number that stands for its way from the root.
    way: u64,
}

impl Grower<'_> {
    /// Grows a tree on the rows of the arrangement.
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

    /// Splits on the way to a leaf at most.
    fn max_depth(&self) -> usize {
        match (self.params.max_depth, self.params.growth) {
            (Some(depth), _) => depth,
            // As many levels as the leaves need.
            (None, Growth::Symmetric) => self.params.num_leaves.next_power_of_two().trailing_zeros() as usize,
            (None, _) => usize::MAX,
        }
    }

    /// The features that a node may use, whose way from the root this is.
    fn features_of(&self, way: u64) -> Vec<usize> {
        let share = self.params.colsample_bynode;
        if share >= 1.0 {
            return self.features.to_vec();
        }
        super::sampling::some_of(self.features, share, self.seed ^ mixed(way))
    }
}

/// A tree in the making.
struct Growing<'a, N: Numbers> {
    grower: &'a Grower<'a>,
    grown: Grown<N::Sum>,
    /// Features that histograms are needed of.
    wanted: Vec<bool>,
}

impl<N: Numbers> Growing<'_, N> {
    /// Makes a split of a leaf: the left child takes its place, the right child is a new leaf, which is returned.
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

    /// Adds up some rows into a histogram of any content.
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

/// The sums of both children, whose rows are those of a node up to the middle and behind it.
fn children<N: Numbers>(
    node: &Totals<N::Sum>,
    found_left: N::Sum,
    pairs: &[N::Pair],
    middle: usize,
) -> [Totals<N::Sum>; 2] {
    // Bins are sums of floats of few digits, of which rows that went the other way may leave nothing.
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

/// The number of a child's way.
fn way_on(way: u64, is_left: bool) -> u64 {
    mixed(way.wrapping_mul(2) + u64::from(!is_left))
}

/// The sum of some rows, in parts that do not depend on the threads.
fn sum_of<N: Numbers>(pairs: &[N::Pair]) -> N::Sum {
    use bitgrain_kernels::histograms::GradientPair;
    const PART: usize = 1 << 15;
    // Four sums at a time: each waits for the one before.
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
