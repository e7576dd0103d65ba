//! Leaf-wise and depth-wise growth: splits the best leaf first.
//!
//! Nodes are divided speculatively: whenever the best leaf is not divided yet, the next best nodes are divided together
//! with it, because nearly all of them are split later. They include children of leaves that are already divided. The selection does not depend on the number of threads, nor do
//! the trees.

use std::cmp::Ordering;
use std::ops::Range;

use super::divide::{Node, Spot, divide};
use super::histogram::parts;
use super::search::{Child, search};
use super::{Arrangement, Growing, GrownLeaf, Histogram, Numbers, Sum, Totals, child_path};
use crate::train::Growth;
use crate::train::split::Found;
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Number of nodes divided at once.
const AT_ONCE: usize = 4;

/// Leaf that can be split.
struct Open<S> {
    found: Found<S>,
    state: State<S>,
}

enum State<S> {
    Whole(Histogram<S>),
    /// Rows are already ordered by child.
    Divided(Box<Children<S>>),
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
            Some(Open { found, state: State::Divided(children) }) => {
                let [left, right] = *children;
                growing.split(leaf, found, [left.0, right.0]);
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
            State::Divided(children) => {
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
    let partials = team.map(Phase::Histograms, parts, |part| part.sums::<N>(rows, map, growing.buffers));
    let mut histogram = growing.buffers.histogram();
    let child = Child::of(growing, leaf.totals, leaf.way, &mut histogram).merging(&partials);
    let found = search(team, growing, vec![(child, None)]).pop()?.0;
    growing.buffers.keep_partials(partials);
    let found = found?;
    Some(Open { found, state: State::Whole(histogram) })
}

/// Node in the order of splitting.
struct Ranked<S> {
    spot: Spot<S>,
    /// Gain of the node, at most that of its parent: a node is split after its parent.
    gain: f64,
    is_whole: bool,
}

/// Collects a node and its descendants.
fn collect<S: Sum>(open: Option<&Open<S>>, spot: Spot<S>, most: f64, nodes: &mut Vec<Ranked<S>>) {
    let Some(open) = open else { return };
    let gain = open.found.gain.min(most);
    if let State::Divided(children) = &open.state {
        let middle = spot.rows.start + children[0].0.rows;
        let ranges = [spot.rows.start..middle, middle..spot.rows.end];
        for ((is_left, rows), (totals, child)) in [true, false].into_iter().zip(ranges).zip(&**children) {
            let path = spot.path.iter().copied().chain([is_left]).collect();
            let (depth, way) = (spot.depth + 1, child_path(spot.way, is_left));
            collect(child.as_ref(), Spot { leaf: spot.leaf, path, rows, totals: *totals, depth, way }, gain, nodes);
        }
    }
    nodes.push(Ranked { spot, gain, is_whole: matches!(open.state, State::Whole(_)) });
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

    /// Returns the nodes to divide: the best leaf, which is not divided, and the next best nodes.
    fn chosen<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>) -> Vec<Spot<S>> {
        let by_depth = growing.grower.params.growth == Growth::DepthWise;
        let mut nodes: Vec<Ranked<S>> = Vec::new();
        for leaf in self.candidates() {
            let GrownLeaf { rows, totals, depth, way, .. } = growing.grown.leaves[leaf].clone();
            let spot = Spot { leaf, path: Vec::new(), rows, totals, depth, way };
            collect(self.open[leaf].as_ref(), spot, f64::INFINITY, &mut nodes);
        }
        let depth = |node: &Ranked<S>| if by_depth { node.spot.depth } else { 0 };
        let place = |node: &Ranked<S>| (node.spot.leaf, node.spot.path.len(), node.spot.rows.start);
        nodes.sort_unstable_by(|a, b| {
            depth(a).cmp(&depth(b)).then(b.gain.total_cmp(&a.gain)).then(place(a).cmp(&place(b)))
        });
        // Divided nodes use up the remaining splits, too.
        let left = growing.grower.params.num_leaves - growing.grown.leaves.len();
        let whole = nodes.into_iter().take(left).filter(|node| node.is_whole).map(|node| node.spot);
        let mut chosen: Vec<Spot<S>> = whole.take(AT_ONCE).collect();
        chosen.sort_unstable_by_key(|spot| spot.rows.start);
        chosen
    }

    /// Returns the node at a spot.
    fn at(&mut self, spot: &Spot<S>) -> Option<&mut Option<Open<S>>> {
        let mut node = &mut self.open[spot.leaf];
        for &is_left in &spot.path {
            let Some(Open { state: State::Divided(children), .. }) = node else { return None };
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
        let chosen = self.chosen(growing);
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
            if node.middle == 0 {
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
                *place = Some(Open { found: node.found, state: State::Divided(children) });
            }
        }
    }
}
