//! Growth by one split at a time, for constraints under which a split changes the best splits of other leaves.
//!
//! Leaves keep their histograms until the end, because they may be searched again.

use std::cmp::Ordering;

use super::divide::{Node, Spot, divide};
use super::histogram::{Part, parts};
use super::search::{Child, search};
use super::{Arrangement, Growing, GrownLeaf, Histogram, Numbers, shared};
use crate::train::Growth;
use crate::train::constrain::{Constraints, Forced, LeafOrder};
use crate::train::split::Found;
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Leaf with its histogram, which is empty if the leaf cannot be split.
struct Open<S> {
    histogram: Histogram<S>,
    found: Option<Found<S>>,
}

struct Leaves<'c, S> {
    open: Vec<Open<S>>,
    order: Option<LeafOrder<'c>>,
}

pub(super) fn grow<N: Numbers>(team: &Team<'_>, growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let constraints = growing.grower.constraints;
    let order = constraints.filter(|constraints| constraints.tracks_leaves()).map(Constraints::leaf_order);
    let mut leaves = Leaves { open: vec![root(team, growing, rows)], order };
    if let Some(forced) = constraints.and_then(Constraints::forced) {
        leaves.force(team, growing, rows, forced);
    }
    while growing.grown.leaves.len() < growing.grower.params.num_leaves {
        let candidates = (0..leaves.open.len()).filter(|&leaf| leaves.open[leaf].found.is_some());
        let Some(leaf) = candidates.min_by(|&a, &b| leaves.compare(growing, a, b)) else { break };
        let Some(found) = leaves.open[leaf].found.take() else { break };
        leaves.split(team, growing, rows, leaf, found);
    }
    leaves.open.into_iter().for_each(|open| keep(growing, open.histogram));
}

fn keep<N: Numbers>(growing: &Growing<'_, N>, histogram: Histogram<N::Sum>) {
    if !histogram.is_empty() {
        growing.buffers.keep(histogram);
    }
}

fn root<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, rows: &Arrangement<'_, N::Pair>) -> Open<N::Sum> {
    let leaf = &growing.grown.leaves[0];
    if !growing.may_split(&leaf.totals, 0) {
        return Open { histogram: Histogram::default(), found: None };
    }
    let map = growing.grower.search.map;
    let parts = parts(rows, map, &growing.wanted, &leaf.rows);
    let partials = team
        .map_rows(Phase::Histograms, rows.all, parts, Part::load, |part| part.sums::<N>(rows, map, growing.buffers));
    let mut histogram = growing.buffers.histogram();
    shared::add_root(team, growing, rows.order.len(), &partials, &mut histogram);
    let child = Child::of(growing, leaf.totals, leaf.way, &mut histogram).merging_alone(growing, &partials);
    let found = search(team, growing, vec![(child, None)]).pop().and_then(|(found, _)| found);
    growing.buffers.keep_partials(partials);
    Open { histogram, found }
}

impl<S: super::Sum> Leaves<'_, S> {
    /// Compares two leaves in the order of splitting. Ties go to the older leaf.
    fn compare<N: Numbers<Sum = S>>(&self, growing: &Growing<'_, N>, a: usize, b: usize) -> Ordering {
        let by_depth = growing.grower.params.growth == Growth::DepthWise;
        let depth = |leaf: usize| if by_depth { growing.grown.leaves[leaf].depth } else { 0 };
        let gain = |leaf: usize| self.open[leaf].found.as_ref().map_or(0.0, |found| found.gain);
        depth(a).cmp(&depth(b)).then(gain(b).total_cmp(&gain(a))).then(a.cmp(&b))
    }

    /// Applies the forced splits, from the root to the leaves. A split that its node cannot have is skipped together
    /// with those below it.
    fn force<N: Numbers<Sum = S>>(
        &mut self,
        team: &Team<'_>,
        growing: &mut Growing<'_, N>,
        rows: &mut Arrangement<'_, N::Pair>,
        forced: &Forced,
    ) {
        let mut waiting = std::collections::VecDeque::from([(0, 0)]);
        while let Some((leaf, at)) = waiting.pop_front() {
            let split = &forced.splits[at];
            let histogram = &self.open[leaf].histogram;
            let Some(scorer) = growing.grower.scorer().filter(|_| !histogram.is_empty()) else { continue };
            let totals = &growing.grown.leaves[leaf].totals;
            let found = growing.grower.search.forced(histogram, totals, (split.feature, split.bin), &scorer);
            let Some(found) = found else { continue };
            let Some(new) = self.split(team, growing, rows, leaf, found) else { continue };
            waiting
                .extend(split.left.map(|left| (leaf, left)).into_iter().chain(split.right.map(|right| (new, right))));
        }
    }

    /// Splits a leaf; returns the new leaf. `None` if no split divides its rows, and then the leaf is closed.
    fn split<N: Numbers<Sum = S>>(
        &mut self,
        team: &Team<'_>,
        growing: &mut Growing<'_, N>,
        rows: &mut Arrangement<'_, N::Pair>,
        leaf: usize,
        found: Found<S>,
    ) -> Option<usize> {
        let GrownLeaf { rows: range, totals, depth, way, .. } = growing.grown.leaves[leaf].clone();
        let spot = Spot { leaf, path: Vec::new(), rows: range.clone(), totals, depth, way };
        let histogram = std::mem::take(&mut self.open[leaf].histogram);
        let mut nodes = vec![Node::<N>::new(spot, rows.part(range), found, histogram)];
        let last = growing.grown.leaves.len() + 1 >= growing.grower.params.num_leaves;
        divide(team, growing, &mut nodes, last);
        let mut node = nodes.pop()?;
        if !node.is_divided() {
            keep(growing, node.large);
            self.open[leaf].found = None;
            return None;
        }
        let splits = match node.splits.take() {
            None if node.needs_histograms => search(team, growing, vec![node.children(growing)]).pop(),
            splits => splits,
        };
        growing.buffers.keep_partials(std::mem::take(&mut node.partials));
        let (small, large) = splits.unwrap_or((None, None));
        let mut opened = [(small, std::mem::take(&mut node.small)), (large, std::mem::take(&mut node.large))]
            .map(|(found, histogram)| Open { histogram, found });
        if !node.smaller_left {
            opened.reverse();
        }
        for (open, may_split) in opened.iter_mut().zip(node.may_split) {
            if !may_split {
                keep(growing, std::mem::take(&mut open.histogram));
            }
        }
        let [left, right] = opened;
        self.open[leaf] = left;
        self.open.push(right);
        let first_use = growing.grower.constraints.is_some_and(|constraints| {
            // Before `split`, which marks the feature as well.
            constraints.mark_used(node.found.sides.feature)
        });
        let changed = self.order.as_mut().map(|order| order.split(leaf, &node.found));
        let new = growing.split(leaf, node.found, node.totals, node.middle);
        let mut stale = self.update_bounds(growing, changed.unwrap_or_default());
        if first_use {
            stale = (0..self.open.len()).collect();
        }
        if !last {
            self.search_again(team, growing, &stale);
        }
        Some(new)
    }

    /// Updates the bounds of leaves; returns those whose bounds changed.
    fn update_bounds<N: Numbers<Sum = S>>(&self, growing: &mut Growing<'_, N>, leaves: Vec<usize>) -> Vec<usize> {
        let (Some(order), Some(constraints)) = (&self.order, growing.grower.constraints) else { return Vec::new() };
        let grown = &mut growing.grown.leaves;
        let mut changed = Vec::new();
        for leaf in leaves {
            let mut limits = grown[leaf].totals.limits;
            if constraints.update_bounds(order, leaf, |other| grown[other].totals.limits.value, &mut limits) {
                changed.push(leaf);
            }
            grown[leaf].totals.limits = limits;
        }
        changed
    }

    /// Searches the splits of some leaves again.
    fn search_again<N: Numbers<Sum = S>>(&mut self, team: &Team<'_>, growing: &Growing<'_, N>, leaves: &[usize]) {
        let open = self.open.iter_mut().enumerate();
        let mut stale: Vec<_> =
            open.filter(|(leaf, open)| leaves.contains(leaf) && !open.histogram.is_empty()).collect();
        let children = stale.iter_mut().map(|(leaf, open)| {
            let GrownLeaf { rows, totals, way, .. } = growing.grown.leaves[*leaf].clone();
            (Child::of(growing, totals, way, &mut open.histogram).starting_at(rows.start), None)
        });
        let children: Vec<_> = children.collect();
        if children.is_empty() {
            return;
        }
        let found = search(team, growing, children);
        for ((_, open), (found, _)) in stale.into_iter().zip(found) {
            open.found = found;
        }
    }
}
