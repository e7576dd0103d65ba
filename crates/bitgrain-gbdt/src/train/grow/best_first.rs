//! Leaf-wise and depth-wise growth: splits the best leaf first.
//!
//! Leaves are partitioned speculatively: whenever the best leaf is not partitioned yet, the next best ones are
//! partitioned in parallel with it, because nearly all of them are split later. The selection does not depend on the
//! number of threads, nor do the trees.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use super::{Arrangement, Growing, Histogram, Numbers, Totals, children, subtract, way_on};
use crate::train::Growth;
use crate::train::split::Found;

/// Number of leaves partitioned at once.
const AT_ONCE: usize = 4;

/// Minimum work on a batch of leaves for parallel execution, in additions to bins: about a quarter of a millisecond.
/// Waking a thread takes too long for less.
const ADDITIONS: usize = 1 << 19;

/// Cost of a histogram bin in additions, on top of the rows: clearing, subtracting, searching in two children.
const PER_BIN: usize = 6;

/// Minimum number of bins for a parallel search.
const BINS: usize = 1 << 13;

/// Leaf that can be split.
struct Open<S> {
    found: Found<S>,
    state: State<S>,
}

enum State<S> {
    Whole(Histogram<S>),
    /// Rows are already ordered by child.
    Parted(Box<Children<S>>),
}

/// Sums and best splits of the left and the right child.
type Children<S> = [(Totals<S>, Option<Open<S>>); 2];

/// Leaf to partition: index, rows, best split, and a histogram to reuse.
type Task<'r, N> = (
    usize,
    Arrangement<'r, <N as Numbers>::Pair>,
    Option<Open<<N as Numbers>::Sum>>,
    Option<Histogram<<N as Numbers>::Sum>>,
);

/// Best split of each leaf that can be split, and histograms to reuse.
struct Leaves<S> {
    open: Vec<Option<Open<S>>>,
    spare: Vec<Histogram<S>>,
}

pub(super) fn grow<N: Numbers>(growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let params = growing.grower.params;
    let root = &growing.grown.leaves[0];
    let histogram = growing.histogram(rows, root.rows.clone(), Vec::new());
    let mut spare = Vec::new();
    let open = open::<N>(growing, &root.totals, (0, 1), histogram, &mut spare);
    let mut leaves = Leaves { open: vec![open], spare };
    while growing.grown.leaves.len() < params.num_leaves {
        let Some(leaf) = leaves.best::<N>(growing).first().copied() else { break };
        match leaves.open[leaf].take() {
            Some(Open { found, state: State::Parted(children) }) => {
                let [left, right] = *children;
                growing.divide(leaf, found, [left.0, right.0]);
                leaves.open[leaf] = left.1;
                leaves.open.push(right.1);
            }
            whole => {
                leaves.open[leaf] = whole;
                leaves.part::<N>(growing, rows);
            }
        }
    }
}

impl<S: super::Sum> Leaves<S> {
    /// Returns the leaves that can be split, in the order of splitting. Ties go to the older leaf.
    fn best<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>) -> Vec<usize> {
        let by_depth = growing.grower.params.growth == Growth::DepthWise;
        let key = |&leaf: &usize| {
            let depth = if by_depth { growing.grown.leaves[leaf].depth } else { 0 };
            (depth, Reverse(self.open[leaf].as_ref().map_or(0.0, |open| open.found.gain)))
        };
        let mut best: Vec<usize> = (0..self.open.len()).filter(|&leaf| self.open[leaf].is_some()).collect();
        best.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b)));
        best
    }

    /// Partitions the best leaves that are not partitioned yet.
    fn part<N: Numbers<Sum = S>>(&mut self, growing: &Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
        let left = growing.grower.params.num_leaves - growing.grown.leaves.len();
        let is_whole = |leaf: &usize| matches!(&self.open[*leaf], Some(Open { state: State::Whole(_), .. }));
        // `take(left)` comes before the filter: leaves that are already partitioned use up the remaining splits, too.
        let mut nodes: Vec<usize> =
            self.best::<N>(growing).into_iter().take(left).filter(is_whole).take(AT_ONCE).collect();
        nodes.sort_unstable_by_key(|&leaf| growing.grown.leaves[leaf].rows.start);
        let ranges: Vec<Range<usize>> = nodes.iter().map(|&leaf| growing.grown.leaves[leaf].rows.clone()).collect();
        let row_bytes = rows.plan.row_bytes();
        let opens: Vec<_> = nodes.iter().map(|&leaf| (self.open[leaf].take(), self.spare.pop())).collect();
        let task = |((&leaf, rows), (open, spare)): ((&usize, _), _)| -> Task<'_, N> { (leaf, rows, open, spare) };
        let tasks: Vec<Task<'_, N>> = nodes.iter().zip(rows.parts(&ranges)).zip(opens).map(task).collect();
        let one = |(leaf, mut rows, open, spare): Task<'_, N>| {
            let mut spares = Vec::from_iter(spare);
            let parted = open.and_then(|open| part_leaf(growing, leaf, open, &mut rows, &mut spares));
            (leaf, parted, spares)
        };
        let bins = growing.grower.search.map.total_bins() as usize;
        let additions: usize = ranges.iter().map(|rows| rows.len() * row_bytes + bins * PER_BIN).sum();
        let parted: Vec<_> = if tasks.len() == 1 || additions < ADDITIONS {
            tasks.into_iter().map(one).collect()
        } else {
            tasks.into_par_iter().map(one).collect()
        };
        for (leaf, open, spares) in parted {
            self.open[leaf] = open;
            self.spare.extend(spares);
        }
    }
}

/// Partitions the rows of a leaf by its split and searches for the splits of both children. A split that sends all rows
/// one way was caused by a rounding error; it is replaced by the next best one. Returns `None` if no other split is
/// left.
fn part_leaf<N: Numbers>(
    growing: &Growing<'_, N>,
    leaf: usize,
    Open { mut found, state }: Open<N::Sum>,
    rows: &mut Arrangement<'_, N::Pair>,
    spares: &mut Vec<Histogram<N::Sum>>,
) -> Option<Open<N::Sum>> {
    let State::Whole(mut large) = state else { return Some(Open { found, state }) };
    let node = &growing.grown.leaves[leaf];
    let (n_rows, search) = (rows.order.len(), &growing.grower.search);
    let middle = loop {
        let middle = rows.split(&found.sides, search.map);
        if middle > 0 && middle < n_rows {
            break middle;
        }
        let features = || growing.grower.features_of(node.way);
        let cleared = found.sides.clear(middle == 0, search.map, &mut large);
        match cleared.then(|| search.best(&large, &node.totals, &features())).flatten() {
            Some(next) => found = next,
            None => {
                spares.push(large);
                return None;
            }
        }
    };
    let [left, right] = children::<N>(&node.totals, found.left, rows.pairs, middle);
    let ways = [true, false].map(|is_left| (node.depth + 1, way_on(node.way, is_left)));
    // The children of the last split are never split, so they need no histograms.
    let last = growing.grown.leaves.len() + 1 >= growing.grower.params.num_leaves;
    if last || !(may_split(growing, &left, ways[0].0) || may_split(growing, &right, ways[1].0)) {
        spares.push(large);
        return Some(Open { found, state: State::Parted(Box::new([(left, None), (right, None)])) });
    }
    // Build only the smaller child's histogram; the other one is the difference.
    let smaller_left = middle <= n_rows - middle;
    let smaller = if smaller_left { 0..middle } else { middle..n_rows };
    let small = growing.histogram(rows, smaller, spares.pop().unwrap_or_default());
    subtract(&mut large, &small);
    let (of_left, of_right) = if smaller_left { (small, large) } else { (large, small) };
    let mut more = Vec::new();
    let (open_left, open_right) = if of_left.len() < BINS {
        (open::<N>(growing, &left, ways[0], of_left, spares), open::<N>(growing, &right, ways[1], of_right, spares))
    } else {
        rayon::join(
            || open::<N>(growing, &left, ways[0], of_left, spares),
            || open::<N>(growing, &right, ways[1], of_right, &mut more),
        )
    };
    spares.append(&mut more);
    Some(Open { found, state: State::Parted(Box::new([(left, open_left), (right, open_right)])) })
}

/// Returns a node with its best split, or `None` if it cannot be split; its histogram is then reused.
fn open<N: Numbers>(
    growing: &Growing<'_, N>,
    totals: &Totals<N::Sum>,
    (depth, way): (usize, u64),
    histogram: Histogram<N::Sum>,
    spares: &mut Vec<Histogram<N::Sum>>,
) -> Option<Open<N::Sum>> {
    let search = || growing.grower.search.best(&histogram, totals, &growing.grower.features_of(way));
    match may_split(growing, totals, depth).then(search).flatten() {
        Some(found) => Some(Open { found, state: State::Whole(histogram) }),
        None => {
            spares.push(histogram);
            None
        }
    }
}

/// Returns whether a node may be split: it is above the maximum depth and has rows for two children.
fn may_split<N: Numbers>(growing: &Growing<'_, N>, totals: &Totals<N::Sum>, depth: usize) -> bool {
    let min_rows = growing.grower.params.min_child_samples.max(1).saturating_mul(2);
    depth < growing.grower.max_depth() && totals.rows >= min_rows
}
