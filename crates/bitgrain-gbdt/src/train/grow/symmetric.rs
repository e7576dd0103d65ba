//! Symmetric (oblivious) trees: all nodes of a level use the same split.

use std::ops::Range;

use super::histogram::{Partial, merge, parts, subtract};
use super::partition::partition_all;
use super::{Arrangement, Growing, Histogram, Numbers, Sides, Sum, sum_of};
use crate::train::split::{Found, How, Totals, is_larger};
use crate::train::team::Team;
use crate::train::usage::Phase;

/// Split of a whole level.
#[derive(Debug, Clone)]
struct Question {
    gain: f64,
    how: How,
    sides: Sides,
}

/// Grows level by level, as long as a split gains anything.
pub(super) fn grow<N: Numbers>(team: &Team<'_>, growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let depth = growing.grower.max_depth().min(MAX_DEPTH);
    let all = growing.grown.leaves[0].rows.clone();
    let mut histograms = sums(team, growing, &[(rows, all)]);
    for level in 0..depth {
        // Sorted by rows, because `parts` cuts the arrangement from front to back.
        let mut leaves: Vec<usize> = (0..histograms.len()).collect();
        leaves.sort_by_key(|&leaf| (growing.grown.leaves[leaf].rows.start, growing.grown.leaves[leaf].rows.end));
        let places: Vec<Range<usize>> = leaves.iter().map(|&leaf| growing.grown.leaves[leaf].rows.clone()).collect();
        let mut nodes = rows.parts(&places);
        let Some((question, middles)) = divide(team, growing, &mut histograms, &leaves, &mut nodes) else { break };
        let last = level + 1 == depth;
        let level = Level { leaves: &leaves, nodes: &nodes, middles: &middles, last };
        let mut children = children(team, growing, &question, histograms, level);
        children.sort_unstable_by_key(|(leaf, _)| *leaf);
        let mut of_right = Vec::new();
        histograms = Vec::new();
        for (leaf, Children { found, totals, histograms: [left, right] }) in children {
            growing.split(leaf, found, totals);
            histograms.push(left);
            of_right.push(right);
        }
        histograms.append(&mut of_right);
    }
}

/// Returns the histogram of a range of each node's rows.
fn sums<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    nodes: &[(&Arrangement<'_, N::Pair>, Range<usize>)],
) -> Vec<Histogram<N::Sum>> {
    let map = growing.grower.search.map;
    let mut tasks = Vec::new();
    for (at, (rows, range)) in nodes.iter().enumerate() {
        let parts = parts(rows, map, &growing.wanted, range);
        tasks.extend(parts.into_iter().map(|part| (at, *rows, part)));
    }
    let mut partials: Vec<Vec<Partial<N::Sum>>> = nodes.iter().map(|_| Vec::new()).collect();
    for (at, partial) in
        team.map(Phase::Histograms, tasks, |(at, rows, part)| (at, part.sums::<N>(rows, map, growing.buffers)))
    {
        partials[at].push(partial);
    }
    let offsets = map.feature_offsets();
    team.map(Phase::Histograms, partials, |partials| {
        let mut histogram = growing.buffers.histogram();
        for feature in (0..map.n_features()).filter(|&feature| growing.wanted[feature]) {
            let bins = offsets[feature] as usize..offsets[feature + 1] as usize;
            merge(growing.plan.places[feature], &partials, &mut histogram[bins]);
        }
        growing.buffers.keep_partials(partials);
        histogram
    })
}

/// Finds the split of a level and partitions the rows of its nodes; returns the number of rows that go left in each
/// node. A split whose gain comes from a child without rows, that is, from a rounding error, is discarded.
fn divide<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    histograms: &mut [Histogram<N::Sum>],
    leaves: &[usize],
    nodes: &mut [Arrangement<'_, N::Pair>],
) -> Option<(Question, Vec<usize>)> {
    let map = growing.grower.search.map;
    loop {
        let question = ask(team, growing, histograms)?;
        let middles = partition_all(team, nodes, &question.sides);
        let mut gained = false;
        for (&leaf, &middle) in leaves.iter().zip(&middles) {
            let (node, histogram) = (&growing.grown.leaves[leaf], &mut histograms[leaf]);
            if middle == 0 || middle == node.rows.len() {
                let left = left_sum(histogram, &question.sides, map.feature_offsets());
                let gain = gain_of(growing, &node.totals, left);
                gained |= question.sides.clear(middle == 0, map, histogram) && gain != 0.0;
            }
        }
        // Clearing rounding errors that had gained something changes the gains, so the search is repeated.
        if !gained {
            return Some((question, middles));
        }
    }
}

/// Both children of a node.
struct Children<S> {
    found: Found<S>,
    totals: [Totals<S>; 2],
    histograms: [Histogram<S>; 2],
}

/// Nodes of a level, sorted by their rows.
struct Level<'a, 'r, P> {
    /// Index of each leaf.
    leaves: &'a [usize],
    nodes: &'a [Arrangement<'r, P>],
    /// Number of rows of each left child.
    middles: &'a [usize],
    /// True for the last level, whose children need no histograms.
    last: bool,
}

/// Returns the children of nodes whose rows are already partitioned. Children of the last level get no histograms.
fn children<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    question: &Question,
    mut histograms: Vec<Histogram<N::Sum>>,
    Level { leaves, nodes, middles, last }: Level<'_, '_, N::Pair>,
) -> Vec<(usize, Children<N::Sum>)> {
    let smaller = |(rows, &middle): (&Arrangement<'_, N::Pair>, &usize)| {
        let n_rows = rows.order.len();
        if middle <= n_rows - middle { 0..middle } else { middle..n_rows }
    };
    let ranges: Vec<_> = nodes.iter().zip(nodes.iter().zip(middles).map(smaller)).collect();
    let mut smalls = if last { Vec::new() } else { sums(team, growing, &ranges) }.into_iter();
    let tasks: Vec<_> = leaves
        .iter()
        .zip(&ranges)
        .zip(middles)
        .map(|((&leaf, (rows, smaller)), &middle)| {
            (leaf, &*rows.pairs, smaller.clone(), middle, std::mem::take(&mut histograms[leaf]), smalls.next())
        })
        .collect();
    team.map(Phase::Search, tasks, |(leaf, pairs, smaller, middle, mut large, small)| {
        let node = &growing.grown.leaves[leaf].totals;
        let left = left_sum(&large, &question.sides, growing.grower.search.map.feature_offsets());
        let (sides, how) = (question.sides.clone(), question.how.clone());
        let found = Found { gain: gain_of(growing, node, left), sides, how, left };
        let smaller_left = smaller.start == 0;
        let (left, right) = if !N::EXACT {
            (left, node.sum.minus(left))
        } else {
            let exact = sum_of::<N>(&pairs[smaller]);
            if smaller_left { (exact, node.sum.minus(exact)) } else { (node.sum.minus(exact), exact) }
        };
        let totals = [Totals { sum: left, rows: middle }, Totals { sum: right, rows: pairs.len() - middle }];
        let histograms = match small {
            None => {
                growing.buffers.keep(large);
                [Vec::new(), Vec::new()]
            }
            Some(small) => {
                subtract(&mut large, &small);
                if smaller_left { [small, large] } else { [large, small] }
            }
        };
        (leaf, Children { found, totals, histograms })
    })
}

/// Maximum depth: the number of leaves doubles with every level.
const MAX_DEPTH: usize = 16;

/// Returns the split with the largest total gain over all leaves.
fn ask<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, histograms: &[Histogram<N::Sum>]) -> Option<Question> {
    let features = growing.grower.features_of(growing.grown.splits.len() as u64);
    let best = team.map(Phase::Search, features, |feature| of_feature(growing, histograms, feature));
    let better = |a: Question, b: Question| {
        let first = a.gain > b.gain || (a.gain == b.gain && a.sides.feature < b.sides.feature);
        if first { a } else { b }
    };
    best.into_iter().flatten().reduce(better)
}

fn of_feature<N: Numbers>(
    growing: &Growing<'_, N>,
    histograms: &[Histogram<N::Sum>],
    feature: usize,
) -> Option<Question> {
    let search = &growing.grower.search;
    let offsets = search.map.feature_offsets();
    let (start, end) = (offsets[feature] as usize, offsets[feature + 1] as usize);
    let n_bins = end - start;
    let missing = search.map.missing_bin(feature).map(|bin| bin as usize);
    let values = n_bins - usize::from(missing.is_some());
    let categorical = search.categorical[feature];
    // Gain of every candidate: values up to a bin go left, without missing values and with them.
    let mut gains = vec![[0.0; 2]; values];
    for (leaf, histogram) in growing.grown.leaves.iter().zip(histograms) {
        let bins = &histogram[start..end];
        let absent = missing.map_or_else(N::Sum::default, |bin| bins[bin]);
        let is_populated = |sum: &N::Sum| *sum != N::Sum::default();
        // A leaf whose rows all go one way gains nothing; its computed gain would be the rounding error of its sums.
        let misses = usize::from(is_populated(&absent));
        let populated = bins[..values].iter().filter(|bin| is_populated(bin)).count();
        let (mut left, mut n_left) = (N::Sum::default(), 0);
        for (gain, bin) in gains.iter_mut().zip(&bins[..values]) {
            let n_bin = usize::from(is_populated(bin));
            (left, n_left) = if categorical { (*bin, n_bin) } else { (left.plus(*bin), n_left + n_bin) };
            if n_left > 0 && n_left < populated + misses {
                gain[0] += gain_of(growing, &leaf.totals, left);
            }
            if missing.is_some() && !categorical && n_left + misses > 0 && n_left < populated {
                gain[1] += gain_of(growing, &leaf.totals, left.plus(absent));
            }
        }
    }
    let mut best: Option<(f64, usize, bool)> = None;
    for (bin, gains) in gains.iter().enumerate() {
        for (&gain, with_missing) in gains.iter().zip([false, true]) {
            if gain > growing.grower.rules.min_split_gain && best.is_none_or(|(most, ..)| gain > most) {
                best = Some((gain, bin, with_missing));
            }
        }
    }
    let (gain, bin, missing_left) = best?;
    let missing_left = if categorical || missing_left {
        missing_left
    } else {
        let bins = || histograms.iter().map(|histogram| &histogram[start..end]);
        let misses = missing.is_some_and(|missing| bins().any(|bins| bins[missing] != N::Sum::default()));
        let hess = |to: usize| bins().flat_map(|bins| &bins[..to]).map(|bin| bin.parts().1).sum::<f64>();
        // A level without missing values does not determine their direction: they follow the majority of its rows.
        !misses && !search.missing_last[feature] && is_larger(hess(bin + 1), hess(values))
    };
    let mut sides = Sides { feature, left: vec![false; n_bins] };
    let how = if categorical {
        sides.left[bin] = true;
        How::Choice { bins: vec![bin] }
    } else {
        sides.left[..=bin].fill(true);
        if let Some(missing) = missing {
            sides.left[missing] = missing_left;
        }
        How::Cut { bin, missing_left }
    };
    Some(Question { gain, how, sides })
}

/// Returns the gain of a split in one leaf; 0 if a child would violate the constraints.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
fn gain_of<N: Numbers>(growing: &Growing<'_, N>, node: &Totals<N::Sum>, left: N::Sum) -> f64 {
    let rules = growing.grower.rules;
    let real = |sum: N::Sum| {
        let (grad, hess) = sum.parts();
        (grad * rules.grad_step, hess * rules.hess_step)
    };
    let (grad, hess) = real(node.sum);
    let (left_grad, left_hess) = real(left);
    let (right_grad, right_hess) = (grad - left_grad, hess - left_hess);
    let min_rows = (rules.min_child_samples - 0.5) * hess / node.rows.max(1) as f64;
    let min_hess = min_rows.max(rules.min_child_weight).max(f64::MIN_POSITIVE);
    if left_hess < min_hess || right_hess < min_hess {
        return 0.0;
    }
    let whole = rules.worth(grad, hess, 0.0);
    let gain = rules.worth(left_grad, left_hess, 0.0) + rules.worth(right_grad, right_hess, 0.0) - whole;
    // Gains and losses within the rounding error of the sums count as 0.
    if gain.abs() <= 1e-12 * whole { 0.0 } else { gain }
}

fn left_sum<S: Sum>(histogram: &[S], sides: &Sides, offsets: &[u32]) -> S {
    let bins = &histogram[offsets[sides.feature] as usize..];
    bins.iter().zip(&sides.left).filter(|(_, left)| **left).fold(S::default(), |sum, (bin, _)| sum.plus(*bin))
}
