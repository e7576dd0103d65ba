//! Growing one tree.

mod arrangement;
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

/// Bins whose search is worth more threads than one.
const BINS: usize = 1 << 13;

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

#[derive(Debug)]
pub(crate) struct GrownLeaf<S> {
    pub(crate) rows: Range<usize>,
    pub(crate) totals: Totals<S>,
    /// The split it hangs on, and whether to its left.
    parent: Option<(usize, bool)>,
    depth: usize,
}

/// A leaf that may be split.
struct Open<S> {
    histogram: Histogram<S>,
    found: Found<S>,
}

impl Grower<'_> {
    /// Grows a tree on the first `n_rows` places of the arrangement.
    pub(crate) fn grow<N: Numbers>(&self, rows: &mut Arrangement<'_, N::Pair>, n_rows: usize) -> Grown<N::Sum> {
        let sum = sum_of::<N>(&rows.pairs[..n_rows]);
        let root = GrownLeaf { rows: 0..n_rows, totals: Totals { sum, rows: n_rows }, parent: None, depth: 0 };
        let mut growing = Growing::<N> {
            grower: self,
            grown: Grown { splits: Vec::new(), leaves: vec![root] },
            open: Vec::new(),
            spare: Vec::new(),
            wanted: self.wanted(),
        };
        match self.params.growth {
            Growth::Symmetric => symmetric::grow(&mut growing, rows),
            Growth::LeafWise | Growth::DepthWise => growing.one_by_one(rows),
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

    /// The features a node may use.
    fn features_of(&self, node: usize) -> Vec<usize> {
        let share = self.params.feature_fraction_by_node;
        if share >= 1.0 {
            return self.features.to_vec();
        }
        super::sampling::some_of(self.features, share, self.seed ^ (node as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

/// A tree in the making.
struct Growing<'a, N: Numbers> {
    grower: &'a Grower<'a>,
    grown: Grown<N::Sum>,
    /// For each leaf, what its split would be, if it may be split.
    open: Vec<Option<Open<N::Sum>>>,
    /// Histograms that nobody needs any more.
    spare: Vec<Histogram<N::Sum>>,
    /// Features that histograms are needed of.
    wanted: Vec<bool>,
}

impl<N: Numbers> Growing<'_, N> {
    /// Leaf after leaf, the best first.
    fn one_by_one(&mut self, rows: &mut Arrangement<'_, N::Pair>) {
        let root = self.histogram(rows, self.grown.leaves[0].rows.clone());
        let found = self.may_split(0).then(|| self.best(0, &root)).flatten();
        self.open.push(found.map(|found| Open { histogram: root, found }));
        while self.grown.leaves.len() < self.grower.params.num_leaves {
            let Some(leaf) = self.next() else { break };
            let Some(open) = self.open[leaf].take() else { break };
            self.split(leaf, open, rows);
        }
    }

    /// The leaf to split next: the first of the best.
    fn next(&self) -> Option<usize> {
        let by_depth = self.grower.params.growth == Growth::DepthWise;
        let key = |leaf: usize, open: &Open<N::Sum>| {
            let depth = if by_depth { self.grown.leaves[leaf].depth } else { 0 };
            (std::cmp::Reverse(depth), open.found.gain)
        };
        let open = self.open.iter().enumerate().filter_map(|(leaf, open)| Some((leaf, key(leaf, open.as_ref()?))));
        let better = |a: (usize, (std::cmp::Reverse<usize>, f64)), b: (usize, (std::cmp::Reverse<usize>, f64))| {
            if b.1.0 > a.1.0 || (b.1.0 == a.1.0 && b.1.1 > a.1.1) { b } else { a }
        };
        open.reduce(better).map(|(leaf, _)| leaf)
    }

    fn split(&mut self, leaf: usize, open: Open<N::Sum>, rows: &mut Arrangement<'_, N::Pair>) {
        let Some((right, smaller_left)) = self.divide(leaf, open.found, rows) else {
            self.spare.push(open.histogram);
            self.open[leaf] = None;
            return;
        };
        self.open.push(None);
        let full = self.grown.leaves.len() >= self.grower.params.num_leaves;
        let (left_may, right_may) = (self.may_split(leaf), self.may_split(right));
        if full || !(left_may || right_may) {
            self.spare.push(open.histogram);
            return;
        }
        let (smaller, larger) = if smaller_left { (leaf, right) } else { (right, leaf) };
        let small = self.histogram(rows, self.grown.leaves[smaller].rows.clone());
        let mut large = open.histogram;
        subtract(&mut large, &small);
        let search = |child: usize, histogram: &Histogram<N::Sum>| {
            self.may_split(child).then(|| self.best(child, histogram)).flatten()
        };
        let (first, second) = if small.len() < BINS {
            (search(smaller, &small), search(larger, &large))
        } else {
            rayon::join(|| search(smaller, &small), || search(larger, &large))
        };
        for (child, histogram, found) in [(smaller, small, first), (larger, large, second)] {
            match found {
                Some(found) => self.open[child] = Some(Open { histogram, found }),
                None => self.spare.push(histogram),
            }
        }
    }

    /// Makes a split of a leaf: the left child takes its place, the right child is a new leaf. Returns that, and
    /// whether the left one has fewer rows. `None` if all rows went one way.
    fn divide(
        &mut self,
        leaf: usize,
        found: Found<N::Sum>,
        rows: &mut Arrangement<'_, N::Pair>,
    ) -> Option<(usize, bool)> {
        let range = self.grown.leaves[leaf].rows.clone();
        let middle = rows.split(range.clone(), &found.sides, self.grower.search.map);
        if middle == range.start || middle == range.end {
            return None;
        }
        Some(self.divide_at(leaf, found, middle, &rows.pairs))
    }

    fn divide_at(&mut self, leaf: usize, found: Found<N::Sum>, middle: usize, pairs: &[N::Pair]) -> (usize, bool) {
        let split = self.grown.splits.len();
        let new = self.grown.leaves.len();
        let GrownLeaf { rows, totals, parent, depth } = &mut self.grown.leaves[leaf];
        let (whole, range) = (*totals, rows.clone());
        if let Some((parent, is_left)) = *parent {
            let place = &mut self.grown.splits[parent];
            *(if is_left { &mut place.left } else { &mut place.right }) = Child::Split(index(split));
        }
        let depth = *depth + 1;
        let child = |rows: Range<usize>, sum: N::Sum, is_left: bool| GrownLeaf {
            totals: Totals { sum, rows: rows.len() },
            rows,
            parent: Some((split, is_left)),
            depth,
        };
        // Bins are sums of floats of few digits, of which rows that went the other way may leave nothing.
        let smaller_left = middle - range.start <= range.end - middle;
        let (left_sum, right_sum) = if !N::EXACT {
            (found.left, whole.sum.minus(found.left))
        } else if smaller_left {
            let left = sum_of::<N>(&pairs[range.start..middle]);
            (left, whole.sum.minus(left))
        } else {
            let right = sum_of::<N>(&pairs[middle..range.end]);
            (whole.sum.minus(right), right)
        };
        self.grown.leaves[leaf] = child(range.start..middle, left_sum, true);
        self.grown.leaves.push(child(middle..range.end, right_sum, false));
        let (left, right) = (Child::Leaf(index(leaf)), Child::Leaf(index(new)));
        self.grown.splits.push(GrownSplit { found, totals: whole, left, right });
        (new, smaller_left)
    }

    /// Whether it is worth looking for a split.
    fn may_split(&self, leaf: usize) -> bool {
        let GrownLeaf { rows, depth, .. } = &self.grown.leaves[leaf];
        *depth < self.grower.max_depth() && rows.len() >= self.grower.params.min_child_samples.max(1).saturating_mul(2)
    }

    fn histogram(&mut self, rows: &Arrangement<'_, N::Pair>, range: Range<usize>) -> Histogram<N::Sum> {
        let map = self.grower.search.map;
        let mut histogram = self.spare.pop().unwrap_or_default();
        histogram.clear();
        histogram.resize(map.total_bins() as usize, N::Sum::default());
        build::<N>(rows.slots, map, &rows.pairs, range, &self.wanted, &mut histogram);
        histogram
    }

    /// The best split of a leaf.
    fn best(&self, leaf: usize, histogram: &Histogram<N::Sum>) -> Option<Found<N::Sum>> {
        let totals = self.grown.leaves[leaf].totals;
        let features = self.grower.features_of(self.grown.splits.len() * 2 + leaf);
        self.grower.search.best(histogram, &totals, &features)
    }
}

/// The sum of some rows, in parts that do not depend on the threads.
fn sum_of<N: Numbers>(pairs: &[N::Pair]) -> N::Sum {
    use bitgrain_kernels::GradientPair;
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

/// An index into splits or leaves.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
