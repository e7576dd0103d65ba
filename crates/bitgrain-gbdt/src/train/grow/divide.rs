//! Dividing nodes at their splits: rows are partitioned, and the rows of the smaller child are added up.
//!
//! A large node is cut into tasks for all threads, in three loops with a wait between them. A small node is one task,
//! which keeps its rows in the cache of one core, and which also searches the splits of the children.

use std::ops::Range;

use super::buffers::Histogram;
use super::histogram::{Part, Partial, is_one_part, parts, write_sums};
use super::partition::{FlagTask, flag_nodes, flag_tasks, partition, swap_nodes};
use super::search::{Child, Siblings, Splits, is_short, search_alone};
use super::{Arrangement, Growing, Numbers, SUM_PART, Sum, Totals, child_path, shared, sum_of, sum_of_part};
use crate::train::constrain::Limits;
use crate::train::split::Found;
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Bytes of records below which a node is one task: about 50 microseconds.
const SMALL: usize = 1 << 17;

/// Location and sums of a node: a leaf of the tree, or a descendant of a leaf that is divided but not split yet.
#[derive(Debug, Clone)]
pub(super) struct Spot<S> {
    pub(super) leaf: usize,
    /// Steps from the leaf down to the node, true for left.
    pub(super) path: Vec<bool>,
    pub(super) rows: Range<usize>,
    pub(super) totals: Totals<S>,
    pub(super) depth: usize,
    pub(super) way: u64,
}

/// Node to divide.
pub(super) struct Node<'r, N: Numbers> {
    pub(super) spot: Spot<N::Sum>,
    pub(super) rows: Arrangement<'r, N::Pair>,
    pub(super) found: Found<N::Sum>,
    /// The node's histogram, from which the smaller child's is subtracted later.
    pub(super) large: Histogram<N::Sum>,
    /// The histogram of the smaller child, or room for it.
    pub(super) small: Histogram<N::Sum>,
    /// Rows of the left child in this process.
    pub(super) middle: usize,
    pub(super) smaller_left: bool,
    /// Left and right.
    pub(super) totals: [Totals<N::Sum>; 2],
    pub(super) may_split: [bool; 2],
    pub(super) needs_histograms: bool,
    /// Sums of the smaller child's rows, unless its histogram is complete.
    pub(super) partials: Vec<Partial<N::Sum>>,
    /// Splits of the smaller and the larger child, if they have been searched.
    pub(super) splits: Option<Splits<N::Sum>>,
}

/// First row of a task of the last loop, and the size of its work: about the number of rows to sum in one tile.
struct Load {
    first: usize,
    size: usize,
}

/// Task of the last loop.
enum Task<'t, 'r, N: Numbers> {
    Sums(usize, &'t Arrangement<'r, N::Pair>, Part),
    Total(usize, &'t [N::Pair]),
    Small(&'t mut Node<'r, N>),
}

enum Done<S> {
    Sums(usize, Partial<S>),
    Total(usize, S),
    Small,
}

/// Moves the rows of nodes into the order of their children, and adds up the rows of the smaller children. The
/// children of the `last` split need no histograms.
pub(super) fn divide<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, nodes: &mut [Node<'_, N>], last: bool) {
    if !growing.grower.peers.are_alone() {
        return shared::divide(team, growing, nodes, last);
    }
    partition_large(team, growing, nodes);
    let map = growing.grower.search.map;
    let all = nodes.first().map_or(0, |node| node.rows.all);
    let mut tasks: Vec<(Load, Task<'_, '_, N>)> = Vec::new();
    let mut any_large = false;
    for (at, node) in nodes.iter_mut().enumerate() {
        let first = node.rows.first;
        if node.is_small() {
            let n_rows = node.rows.order.len();
            let size = n_rows + n_rows * node.rows.plan.tiles.len() / 2 + map.total_bins() as usize;
            tasks.push((Load { first, size }, Task::Small(node)));
        } else if node.middle > 0 {
            node.plan(growing, last, [node.middle, node.rows.order.len() - node.middle]);
            let (rows, smaller) = (&node.rows, node.smaller());
            if node.needs_histograms {
                let parts = parts(rows, map, &growing.wanted, &smaller);
                tasks.extend(parts.into_iter().map(|part| {
                    let (within, size) = part.load();
                    (Load { first: first + within, size }, Task::Sums(at, rows, part))
                }));
                any_large = true;
            }
            if N::EXACT {
                let starts = (first + smaller.start..).step_by(SUM_PART);
                let totals = rows.pairs[smaller].chunks(SUM_PART).map(|pairs| Task::Total(at, pairs));
                tasks.extend(starts.zip(totals).map(|(first, total)| (Load { first, size: 0 }, total)));
                any_large = true;
            }
        }
    }
    // The time of a loop with both kinds counts for the large nodes, which take most of it.
    let phase = if any_large { Phase::Histograms } else { Phase::Nodes };
    let done = team.map_rows(
        phase,
        all,
        tasks,
        |(load, _)| (load.first, load.size),
        |(_, task)| match task {
            Task::Sums(at, rows, part) => Done::Sums(at, part.sums::<N>(rows, map, growing.buffers)),
            Task::Total(at, pairs) => Done::Total(at, sum_of_part::<N>(pairs)),
            Task::Small(node) => {
                node.divide_alone(growing, last);
                if node.needs_histograms && is_short(growing) {
                    let splits = search_alone(growing, node.children(growing));
                    growing.buffers.keep_partials(std::mem::take(&mut node.partials));
                    node.splits = Some(splits);
                }
                Done::Small
            }
        },
    );
    let mut exact = vec![N::Sum::default(); nodes.len()];
    for done in done {
        match done {
            Done::Sums(at, partial) => nodes[at].partials.push(partial),
            Done::Total(at, sum) => exact[at] = exact[at].plus(sum),
            Done::Small => {}
        }
    }
    let large = nodes.iter_mut().zip(exact).filter(|(node, _)| !node.is_small() && node.middle > 0);
    large.for_each(|(node, exact)| node.count(growing, exact));
}

/// Partitions the rows of large nodes on all threads.
fn partition_large<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, nodes: &mut [Node<'_, N>]) {
    let mut large: Vec<&mut Node<'_, N>> = nodes.iter_mut().filter(|node| !node.is_small()).collect();
    if large.is_empty() {
        return;
    }
    let mut flags = flag_nodes(team, large.iter().map(|node| (&node.rows, &node.found.sides)));
    for (node, flags) in large.iter_mut().zip(&mut flags) {
        node.middle = flags.count();
        while node.is_one_sided() && node.search_again(growing) {
            flag_tasks(&node.rows, &node.found.sides, flags).for_each(FlagTask::run);
            node.middle = flags.count();
        }
    }
    swap_nodes(team, large.iter_mut().zip(&flags).map(|(node, flags)| (&mut node.rows, flags, node.middle)));
}

impl<'r, N: Numbers> Node<'r, N> {
    pub(super) fn new(
        spot: Spot<N::Sum>,
        rows: Arrangement<'r, N::Pair>,
        found: Found<N::Sum>,
        large: Histogram<N::Sum>,
    ) -> Self {
        let none = Totals { sum: N::Sum::default(), rows: 0, limits: Limits::FREE };
        Self {
            spot,
            rows,
            found,
            large,
            small: Histogram::default(),
            middle: 0,
            smaller_left: false,
            totals: [none, none],
            may_split: [false; 2],
            needs_histograms: false,
            partials: Vec::new(),
            splits: None,
        }
    }

    /// Returns whether a split divides the rows of all workers.
    pub(super) fn is_divided(&self) -> bool {
        self.totals[0].rows > 0
    }

    /// Returns whether one task divides the node.
    fn is_small(&self) -> bool {
        self.rows.order.len() * self.rows.row_bytes < SMALL
    }

    /// Partitions and sums on the calling thread.
    fn divide_alone(&mut self, growing: &Growing<'_, N>, last: bool) {
        self.middle = partition(&mut self.rows, &self.found.sides);
        while self.is_one_sided() && self.search_again(growing) {
            self.middle = partition(&mut self.rows, &self.found.sides);
        }
        if self.middle == 0 {
            return;
        }
        self.plan(growing, last, [self.middle, self.rows.order.len() - self.middle]);
        let smaller = self.smaller();
        if self.needs_histograms {
            let map = growing.grower.search.map;
            if is_one_part(&smaller) {
                write_sums::<N>(&self.rows, map, &growing.wanted, &smaller, growing.buffers, &mut self.small);
            } else {
                let parts = parts(&self.rows, map, &growing.wanted, &smaller).into_iter();
                self.partials = parts.map(|part| part.sums::<N>(&self.rows, map, growing.buffers)).collect();
            }
        }
        let exact = if N::EXACT { sum_of::<N>(&self.rows.pairs[smaller]) } else { N::Sum::default() };
        self.count(growing, exact);
    }

    /// Returns the children to search: the smaller and the larger.
    pub(super) fn children(&mut self, growing: &Growing<'_, N>) -> Siblings<'_, N::Sum> {
        let ways = [true, false].map(|is_left| child_path(self.spot.way, is_left));
        let [smaller, larger] = if self.smaller_left { [0, 1] } else { [1, 0] };
        let mut small = Child::of(growing, self.totals[smaller], ways[smaller], &mut self.small)
            .only_if(self.may_split[smaller])
            .starting_at(self.rows.first);
        if !self.partials.is_empty() {
            small = small.merging(&self.partials);
        }
        let large =
            Child::of(growing, self.totals[larger], ways[larger], &mut self.large).only_if(self.may_split[larger]);
        (small, Some(large))
    }

    fn is_one_sided(&self) -> bool {
        self.middle == 0 || self.middle == self.rows.order.len()
    }

    /// Replaces a split that sends all rows one way by the next best. Such a split was found because of a rounding
    /// error: bins that are the difference of two sums of floats keep an error where no rows are left. Returns whether
    /// another split was found; if not, `middle` is 0.
    fn search_again(&mut self, growing: &Growing<'_, N>) -> bool {
        let search = &growing.grower.search;
        let node = &self.spot;
        let cleared = self.found.sides.clear(self.middle == 0, search.map, &mut self.large);
        let features = || growing.grower.features_of(node.way, &node.totals.limits);
        match cleared.then(|| search.best(&self.large, &node.totals, &features())).flatten() {
            Some(next) => self.found = next,
            None => {
                self.middle = 0;
                return false;
            }
        }
        true
    }

    /// Returns the rows of the smaller child.
    pub(super) fn smaller(&self) -> Range<usize> {
        if self.smaller_left { 0..self.middle } else { self.middle..self.rows.order.len() }
    }

    /// Decides what the children need, once the number of rows on each side is known.
    pub(super) fn plan(&mut self, growing: &Growing<'_, N>, last: bool, [left, right]: [usize; 2]) {
        self.smaller_left = left <= right;
        [self.totals[0].rows, self.totals[1].rows] = [left, right];
        let depth = self.spot.depth + 1;
        self.may_split = [0, 1].map(|side| !last && growing.may_split(&self.totals[side], depth));
        self.needs_histograms = self.may_split.contains(&true);
        if self.needs_histograms {
            self.small = growing.buffers.histogram();
        }
    }

    /// Sets the sums and limits of both children. `exact` is the sum over the rows of the smaller one, if sums are of floats: the
    /// sum of bins has a rounding error, of which rows that went the other way may be a part.
    pub(super) fn count(&mut self, growing: &Growing<'_, N>, exact: N::Sum) {
        let sum = self.spot.totals.sum;
        let (left, right) = if !N::EXACT {
            (self.found.left, sum.minus(self.found.left))
        } else if self.smaller_left {
            (exact, sum.minus(exact))
        } else {
            (sum.minus(exact), exact)
        };
        [self.totals[0].sum, self.totals[1].sum] = [left, right];
        growing.limit(&self.spot.totals.limits, &self.found, &mut self.totals);
    }
}
