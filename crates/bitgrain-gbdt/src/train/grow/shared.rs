//! Growth of a tree whose rows are divided among workers.
//!
//! All workers hold the same tree and histograms of sums over all rows, so they make the same decisions. They add up the
//! number of rows that go left at each split, and the histogram of the smaller child, which is exact for integer codes
//! in any order.

use std::ops::Range;

use bitgrain_kernels::histograms::CodeSum;

use super::buffers::Histogram;
use super::divide::Node;
use super::histogram::{Part, Partial, merge, parts};
use super::partition::{flag_nodes, swap_nodes};
use super::{Growing, Numbers, Sum};
use crate::distributed::{Packing, Peers};
use crate::model::Child;
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Returns the sum of gradients and the number of rows over all workers.
pub(super) fn sum_of_all<S: Sum>(peers: &Peers<'_>, sum: S, n_rows: usize) -> (S, usize) {
    if peers.are_alone() {
        return (sum, n_rows);
    }
    let mut numbers = [sum.codes().0.cast_unsigned(), n_rows as u64];
    peers.sum(&mut numbers);
    (S::of_codes(CodeSum(numbers[0].cast_signed())), usize::try_from(numbers[1]).unwrap_or(usize::MAX))
}

/// Returns the first row of each leaf, counting those of all workers: the order of the leaves must not depend on how the
/// rows are divided.
pub(super) fn first_rows<N: Numbers>(growing: &Growing<'_, N>) -> Vec<usize> {
    let leaves = &growing.grown.leaves;
    if growing.grower.peers.are_alone() {
        return leaves.iter().map(|leaf| leaf.rows.start).collect();
    }
    let mut starts = vec![0; leaves.len()];
    // Rows of the left child come first: a depth-first walk of the splits.
    let mut waiting = vec![if growing.grown.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) }];
    let mut start = 0;
    while let Some(child) = waiting.pop() {
        match child {
            Child::Leaf(leaf) => {
                starts[leaf as usize] = start;
                start += leaves[leaf as usize].totals.rows;
            }
            Child::Split(split) => {
                let split = &growing.grown.splits[split as usize];
                waiting.extend([split.right, split.left]);
            }
        }
    }
    starts
}

/// A histogram of some rows of this worker, to be added to those of the others.
struct Share<'a, S> {
    histogram: &'a mut Histogram<S>,
    n_rows: usize,
    packing: Packing,
}

/// Replaces histograms by those of the rows of all workers, in one exchange.
fn add<N: Numbers>(growing: &Growing<'_, N>, mut shares: Vec<Share<'_, N::Sum>>) {
    let offsets = growing.grower.search.map.feature_offsets();
    // Features that are not wanted have arbitrary sums, and are not sent.
    let mut runs: Vec<Range<usize>> = Vec::new();
    for feature in (0..growing.wanted.len()).filter(|&feature| growing.wanted[feature]) {
        let bins = offsets[feature] as usize..offsets[feature + 1] as usize;
        match runs.last_mut() {
            Some(last) if last.end == bins.start => last.end = bins.end,
            _ => runs.push(bins),
        }
    }
    let bins: usize = runs.iter().map(Range::len).sum();
    let mut words = Vec::with_capacity(shares.iter().map(|share| share.packing.words(bins)).sum());
    for share in &shares {
        let sums = runs.iter().flat_map(|run| &share.histogram[run.clone()]).map(|sum| sum.codes());
        share.packing.pack(share.n_rows, sums, &mut words);
    }
    growing.grower.peers.sum(&mut words);
    let mut rest = &words[..];
    for share in &mut shares {
        let (own, others) = rest.split_at(share.packing.words(bins));
        rest = others;
        let mut sums = share.packing.unpack(own);
        for run in &runs {
            let bins = share.histogram[run.clone()].iter_mut();
            bins.zip(&mut sums).for_each(|(bin, sum)| *bin = N::Sum::of_codes(sum));
        }
    }
}

/// Partial sums of a node, and the histogram to merge them into.
type Merge<'a, S> = (&'a [Partial<S>], &'a mut Histogram<S>);

/// Merges the partial sums of nodes on all threads.
fn merged<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, nodes: Vec<Merge<'_, N::Sum>>) {
    let offsets = growing.grower.search.map.feature_offsets();
    team.map(Phase::Histograms, nodes, |(partials, histogram)| {
        for feature in (0..growing.wanted.len()).filter(|&feature| growing.wanted[feature]) {
            let bins = offsets[feature] as usize..offsets[feature + 1] as usize;
            merge(growing.plan.places[feature], partials, &mut histogram[bins]);
        }
    });
}

/// Writes the histogram of the root over the rows of all workers, from the partial sums of `n_rows` own rows. Does
/// nothing without other workers.
pub(super) fn add_root<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    n_rows: usize,
    partials: &[Partial<N::Sum>],
    histogram: &mut Histogram<N::Sum>,
) {
    let grower = growing.grower;
    if grower.peers.are_alone() {
        return;
    }
    merged(team, growing, vec![(partials, histogram)]);
    let totals = &growing.grown.leaves[0].totals;
    let packing = grower.peers.packing(grower.codes, totals.rows, totals.sum.codes().hess().cast_unsigned());
    add(growing, vec![Share { histogram, n_rows, packing }]);
}

/// Divides nodes like [`divide`](super::divide::divide), and adds up the rows of the smaller children of all workers.
pub(super) fn divide<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, nodes: &mut [Node<'_, N>], last: bool) {
    let (map, peers, codes) = (growing.grower.search.map, growing.grower.peers, growing.grower.codes);
    let flags = flag_nodes(team, nodes.iter().map(|node| (&node.rows, &node.found.sides)));
    nodes.iter_mut().zip(&flags).for_each(|(node, flags)| node.middle = flags.count());
    swap_nodes(team, nodes.iter_mut().zip(&flags).map(|(node, flags)| (&mut node.rows, flags, node.middle)));
    let mut counts: Vec<u64> = nodes.iter().map(|node| node.middle as u64).collect();
    peers.sum(&mut counts);
    for (node, left) in nodes.iter_mut().zip(counts) {
        let (left, all) = (usize::try_from(left).unwrap_or(usize::MAX), node.spot.totals.rows);
        // After an error, sums are those of this worker only, and the tree is discarded.
        if left > 0 && left < all && peers.is_intact() {
            node.plan(growing, last, [left, all - left]);
            node.count(growing, N::Sum::default());
        }
    }
    let all = nodes.first().map_or(0, |node| node.rows.all);
    let mut tasks: Vec<((usize, usize), usize, Part)> = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.needs_histograms) {
        let first = node.rows.first;
        let parts = parts(&node.rows, map, &growing.wanted, &node.smaller());
        tasks.extend(parts.into_iter().map(|part| {
            let (within, size) = part.load();
            ((first + within, size), at, part)
        }));
    }
    let done = {
        let nodes = &*nodes;
        team.map_rows(
            Phase::Histograms,
            all,
            tasks,
            |(load, ..)| *load,
            |(_, at, part)| (at, part.sums::<N>(&nodes[at].rows, map, growing.buffers)),
        )
    };
    let mut partials: Vec<Vec<Partial<N::Sum>>> = nodes.iter().map(|_| Vec::new()).collect();
    done.into_iter().for_each(|(at, partial)| partials[at].push(partial));
    let local = nodes.iter_mut().zip(&partials).filter(|(node, _)| node.needs_histograms);
    merged(team, growing, local.map(|(node, partials)| (&partials[..], &mut node.small)).collect());
    partials.into_iter().for_each(|partials| growing.buffers.keep_partials(partials));
    let shares = nodes.iter_mut().filter(|node| node.needs_histograms).map(|node| {
        let n_rows = node.smaller().len();
        let smaller = &node.totals[usize::from(!node.smaller_left)];
        let packing = peers.packing(codes, smaller.rows, smaller.sum.codes().hess().cast_unsigned());
        Share { histogram: &mut node.small, n_rows, packing }
    });
    add(growing, shares.collect());
}

/// Replaces the histograms of nodes by those of the rows of all workers; each comes with its rows in this process and on
/// all workers. Does nothing without other workers.
pub(super) fn add_all<N: Numbers>(growing: &Growing<'_, N>, nodes: &mut [(Histogram<N::Sum>, usize, usize)]) {
    let (peers, codes) = (growing.grower.peers, growing.grower.codes);
    if peers.are_alone() {
        return;
    }
    let shares = nodes.iter_mut().map(|(histogram, n_rows, all)| Share {
        histogram,
        n_rows: *n_rows,
        packing: peers.packing(codes, *all, u64::MAX),
    });
    add(growing, shares.collect());
}
