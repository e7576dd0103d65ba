//! Leaf-wise and depth-wise growth: splits the best leaf first.
//!
//! Nodes are divided speculatively: whenever the best leaf is not divided yet, the next best nodes are divided together
//! with it, because nearly all of them are split later. They include children of leaves that are already divided. The
//! selection does not depend on the number of threads, nor do the trees.

use std::cmp::Ordering;
use std::ops::Range;

use super::divide::{Node, Spot, divide};
use super::histogram::{Part, parts};
use super::search::{Child, search};
use super::{Arrangement, Growing, GrownLeaf, Histogram, Numbers, Sum, Totals, child_path, shared};
use crate::train::Growth;
use crate::train::split::Found;
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Number of nodes divided at once, of any size.
const AT_ONCE: usize = 4;

/// Maximum number of nodes divided at once, if together they have at most half of the rows: more nodes mean fewer loops,
/// but partial sums of many large nodes would take memory.
const MOST_AT_ONCE: usize = 8;

/// Leaf that can be split.
struct Open<S> {
    found: Found<S>,
    state: State<S>,
}

enum State<S> {
    Whole(Histogram<S>),
    /// Rows are already ordered by child; the number is that of the left child in this process.
    Divided(Box<Children<S>>, usize),
}

/// Sums and best splits of the left and the right child.
type Children<S> = [(Totals<S>, Option<Open<S>>); 2];

/// Best split of each leaf that can be split.
struct Leaves<S> {
    open: Vec<Option<Open<S>>>,
}

pub(super) fn grow<N: Numbers>(team: &Team<'_>, growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let params = growing.grower.params;
    let mut leaves = Leaves { open: vec![root(team, growing, rows)] };
    while growing.grown.leaves.len() < params.num_leaves {
        let Some(leaf) = leaves.first::<N>(growing) else { break };
        match leaves.open[leaf].take() {
            Some(Open { found, state: State::Divided(children, middle) }) => {
                let [left, right] = *children;
                growing.split(leaf, found, [left.0, right.0], middle);
                leaves.open[leaf] = left.1;
                leaves.open.push(right.1);
            }
            whole => {
                leaves.open[leaf] = whole;
                leaves.divide::<N>(team, growing, rows);
            }
        }
    }
    leaves.open.into_iter().flatten().for_each(|open| open.release(growing));
}

impl<S: Sum> Open<S> {
    /// Returns the histograms to the buffers, after the last split of the tree.
    fn release<N: Numbers<Sum = S>>(self, growing: &Growing<'_, N>) {
        match self.state {
            State::Whole(histogram) => growing.buffers.keep(histogram),
            State::Divided(children, _) => {
                children.into_iter().filter_map(|(_, open)| open).for_each(|open| open.release(growing));
            }
        }
    }
}

/// Returns the root with its best split, or `None` if it cannot be split.
fn root<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    rows: &Arrangement<'_, N::Pair>,
) -> Option<Open<N::Sum>> {
    let leaf = &growing.grown.leaves[0];
    if !growing.may_split(&leaf.totals, 0) {
        return None;
    }
    let map = growing.grower.search.map;
    let parts = parts(rows, map, &growing.wanted, &leaf.rows);
    let partials = team
        .map_rows(Phase::Histograms, rows.all, parts, Part::load, |part| part.sums::<N>(rows, map, growing.buffers));
    let mut histogram = growing.buffers.histogram();
    shared::add_root(team, growing, rows.order.len(), &partials, &mut histogram);
    let child = Child::of(growing, leaf.totals, leaf.way, &mut histogram).merging_alone(growing, &partials);
    let found = search(team, growing, vec![(child, None)]).pop()?.0;
    growing.buffers.keep_partials(partials);
    let found = found?;
    Some(Open { found, state: State::Whole(histogram) })
}

/// Node in the order of splitting.
#[derive(Clone, Copy)]
struct Ranked {
    leaf: usize,
    /// Steps from the leaf down to the node.
    steps: usize,
    /// First row, counting those of all workers.
    start: usize,
    n_rows: usize,
    depth: usize,
    /// Gain of the node, at most that of its parent: a node is split after its parent.
    gain: f64,
    is_whole: bool,
}

/// Collects a node and its descendants. `at` has the place of the node and the gain of its parent.
fn collect<S: Sum>(open: Option<&Open<S>>, at: Ranked, nodes: &mut Vec<Ranked>) {
    let Some(open) = open else { return };
    let at = Ranked { gain: open.found.gain.min(at.gain), ..at };
    if let State::Divided(children, _) = &open.state {
        for (start, (totals, child)) in [at.start, at.start + children[0].0.rows].into_iter().zip(&**children) {
            let n_rows = totals.rows;
            collect(child.as_ref(), Ranked { steps: at.steps + 1, depth: at.depth + 1, start, n_rows, ..at }, nodes);
        }
    }
    nodes.push(Ranked { is_whole: matches!(open.state, State::Whole(_)), ..at });
}

impl<S: Sum> Leaves<S> {
    /// Compares two leaves in the order of splitting. Ties go to the older leaf.
    fn order<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>, a: usize, b: usize) -> Ordering {
        let by_depth = growing.grower.params.growth == Growth::DepthWise;
        let depth = |leaf: usize| if by_depth { growing.grown.leaves[leaf].depth } else { 0 };
        let gain = |leaf: usize| self.open[leaf].as_ref().map_or(0.0, |open| open.found.gain);
        let by_gain = gain(b).partial_cmp(&gain(a)).unwrap_or(Ordering::Equal);
        depth(a).cmp(&depth(b)).then(by_gain).then(a.cmp(&b))
    }

    /// Returns the leaves that can be split.
    fn candidates(&self) -> impl Iterator<Item = usize> {
        (0..self.open.len()).filter(|&leaf| self.open[leaf].is_some())
    }

    /// Returns the leaf to split next.
    fn first<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>) -> Option<usize> {
        self.candidates().min_by(|&a, &b| self.order(growing, a, b))
    }

    /// Returns the nodes to divide: the best leaf, which is not divided, and the next best nodes. `all` is the number of
    /// rows of the tree.
    fn chosen<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>, all: usize) -> Vec<Spot<S>> {
        let by_depth = growing.grower.params.growth == Growth::DepthWise;
        let mut nodes: Vec<Ranked> = Vec::with_capacity(2 * growing.grower.params.num_leaves.min(1 << 12));
        let starts = shared::first_rows(growing);
        for leaf in self.candidates() {
            let GrownLeaf { totals, depth, .. } = &growing.grown.leaves[leaf];
            let (start, n_rows, depth) = (starts[leaf], totals.rows, *depth);
            let at = Ranked { leaf, steps: 0, start, n_rows, depth, gain: f64::INFINITY, is_whole: true };
            collect(self.open[leaf].as_ref(), at, &mut nodes);
        }
        let depth = |node: &Ranked| if by_depth { node.depth } else { 0 };
        let place = |node: &Ranked| (node.leaf, node.steps, node.start);
        nodes.sort_unstable_by(|a, b| {
            depth(a).cmp(&depth(b)).then(b.gain.total_cmp(&a.gain)).then(place(a).cmp(&place(b)))
        });
        // Divided nodes use up the remaining splits, too.
        let left = growing.grower.params.num_leaves - growing.grown.leaves.len();
        let mut chosen: Vec<Ranked> = Vec::new();
        let mut n_rows = 0;
        for node in nodes.into_iter().take(left).filter(|node| node.is_whole) {
            n_rows += node.n_rows;
            if chosen.len() >= AT_ONCE && (chosen.len() >= MOST_AT_ONCE || n_rows > all / 2) {
                break;
            }
            chosen.push(node);
        }
        chosen.sort_unstable_by_key(|node| node.start);
        chosen.into_iter().map(|node| self.spot(growing, node, starts[node.leaf])).collect()
    }

    /// Returns the spot of a node.
    fn spot<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>, node: Ranked, mut start: usize) -> Spot<S> {
        let GrownLeaf { rows, totals, depth, way, .. } = growing.grown.leaves[node.leaf].clone();
        let mut spot = Spot { leaf: node.leaf, path: Vec::with_capacity(node.steps), rows, totals, depth, way };
        let mut open = self.open[node.leaf].as_ref();
        while spot.path.len() < node.steps
            && let Some(Open { state: State::Divided(children, middle), .. }) = open
        {
            let middle = spot.rows.start + middle;
            let right = start + children[0].0.rows;
            let is_left = node.start < right;
            start = if is_left { start } else { right };
            spot.rows = if is_left { spot.rows.start..middle } else { middle..spot.rows.end };
            spot.path.push(is_left);
            (spot.depth, spot.way) = (spot.depth + 1, child_path(spot.way, is_left));
            let (totals, child) = &children[usize::from(!is_left)];
            (spot.totals, open) = (*totals, child.as_ref());
        }
        spot
    }

    /// Returns the node at a spot.
    fn at(&mut self, spot: &Spot<S>) -> Option<&mut Option<Open<S>>> {
        let mut node = &mut self.open[spot.leaf];
        for &is_left in &spot.path {
            let Some(Open { state: State::Divided(children, _), .. }) = node else { return None };
            node = &mut children[usize::from(!is_left)].1;
        }
        Some(node)
    }

    /// Divides the best nodes that are not divided yet.
    fn divide<N: Numbers<Sum = S>>(
        &mut self,
        team: &Team<'_>,
        growing: &Growing<'_, N>,
        rows: &mut Arrangement<'_, N::Pair>,
    ) {
        let all = growing.grown.leaves.iter().map(|leaf| leaf.totals.rows).sum();
        let chosen = self.chosen(growing, all);
        let ranges: Vec<Range<usize>> = chosen.iter().map(|spot| spot.rows.clone()).collect();
        let mut nodes = Vec::with_capacity(chosen.len());
        for (spot, rows) in chosen.into_iter().zip(rows.parts(&ranges)) {
            let open = self.at(&spot).and_then(Option::take);
            let Some(Open { found, state: State::Whole(large) }) = open else { continue };
            nodes.push(Node::<N>::new(spot, rows, found, large));
        }
        // The children of the last split are never split, so they need no histograms.
        let last = growing.grown.leaves.len() + 1 >= growing.grower.params.num_leaves;
        divide(team, growing, &mut nodes, last);
        let searched = nodes.iter_mut().filter(|node| node.needs_histograms && node.splits.is_none());
        let searched: Vec<_> = searched.map(|node| node.children(growing)).collect();
        let mut found = if searched.is_empty() { Vec::new() } else { search(team, growing, searched) }.into_iter();
        for mut node in nodes {
            if !node.is_divided() {
                growing.buffers.keep(node.large);
                continue;
            }
            let of_children = match node.splits.take() {
                None if node.needs_histograms => found.next(),
                splits => splits,
            };
            let (of_small, of_large) = of_children.unwrap_or((None, None));
            growing.buffers.keep_partials(std::mem::take(&mut node.partials));
            let histograms = [std::mem::take(&mut node.small), std::mem::take(&mut node.large)];
            let mut opened = [of_small, of_large].into_iter().zip(histograms).map(|(found, histogram)| match found {
                Some(found) => Some(Open { found, state: State::Whole(histogram) }),
                None if histogram.is_empty() => None,
                None => {
                    growing.buffers.keep(histogram);
                    None
                }
            });
            let (small, large) = (opened.next().flatten(), opened.next().flatten());
            drop(opened);
            let (left, right) = if node.smaller_left { (small, large) } else { (large, small) };
            let [left_totals, right_totals] = node.totals;
            let children = Box::new([(left_totals, left), (right_totals, right)]);
            if let Some(place) = self.at(&node.spot) {
                *place = Some(Open { found: node.found, state: State::Divided(children, node.middle) });
            }
        }
    }
}
