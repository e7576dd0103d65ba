//! Symmetric (oblivious) trees: all nodes of a level use the same split.

use std::ops::Range;

use super::histogram::{Part, Partial, merge, parts, subtract};
use super::partition::partition_all;
use super::{Arrangement, Growing, Histogram, Numbers, Sides, Sum, shared, sum_of};
use crate::train::constrain::Limits;
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
    let mut histograms = sums(team, growing, &[(rows, all)], &[growing.grown.leaves[0].totals.rows]);
    for level in 0..depth {
        // Sorted by rows, because `parts` cuts the arrangement from front to back.
        let mut leaves: Vec<usize> = (0..histograms.len()).collect();
        let starts = shared::first_rows(growing);
        leaves.sort_by_key(|&leaf| (starts[leaf], starts[leaf] + growing.grown.leaves[leaf].totals.rows));
        let places: Vec<Range<usize>> = leaves.iter().map(|&leaf| growing.grown.leaves[leaf].rows.clone()).collect();
        let mut nodes = rows.parts(&places);
        let divided = divide(team, growing, &mut histograms, &leaves, &mut nodes);
        let Some((question, middles)) = divided.filter(|_| growing.grower.peers.is_intact()) else { break };
        let last = level + 1 == depth;
        let level = Level { leaves: &leaves, nodes: &nodes, middles: &middles, last };
        let mut children = children(team, growing, &question, histograms, level);
        children.sort_unstable_by_key(|(leaf, _)| *leaf);
        let mut of_right = Vec::new();
        histograms = Vec::new();
        for (leaf, Children { found, totals, middle, histograms: [left, right] }) in children {
            growing.split(leaf, found, totals, middle);
            histograms.push(left);
            of_right.push(right);
        }
        histograms.append(&mut of_right);
    }
}

/// Returns the histogram of a range of each node's rows; `of_all` is the number of these rows on all workers.
fn sums<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    nodes: &[(&Arrangement<'_, N::Pair>, Range<usize>)],
    of_all: &[usize],
) -> Vec<Histogram<N::Sum>> {
    let map = growing.grower.search.map;
    let mut tasks = Vec::new();
    for (at, (rows, range)) in nodes.iter().enumerate() {
        let parts = parts(rows, map, &growing.wanted, range);
        tasks.extend(parts.into_iter().map(|part| (at, *rows, part)));
    }
    let mut partials: Vec<Vec<Partial<N::Sum>>> = nodes.iter().map(|_| Vec::new()).collect();
    let all = nodes.first().map_or(0, |(rows, _)| rows.all);
    let load = |(_, rows, part): &(usize, &Arrangement<'_, N::Pair>, Part)| {
        let (first, len) = part.load();
        (rows.first + first, len)
    };
    let sums = team.map_rows(Phase::Histograms, all, tasks, load, |(at, rows, part)| {
        (at, part.sums::<N>(rows, map, growing.buffers))
    });
    for (at, partial) in sums {
        partials[at].push(partial);
    }
    let offsets = map.feature_offsets();
    let histograms = team.map(Phase::Histograms, partials, |partials| {
        let mut histogram = growing.buffers.histogram();
        for feature in (0..map.n_features()).filter(|&feature| growing.wanted[feature]) {
            let bins = offsets[feature] as usize..offsets[feature + 1] as usize;
            merge(growing.plan.places[feature], &partials, &mut histogram[bins]);
        }
        growing.buffers.keep_partials(partials);
        histogram
    });
    let own = nodes.iter().map(|(_, range)| range.len());
    let mut nodes: Vec<_> = histograms.into_iter().zip(own).zip(of_all).map(|((h, own), all)| (h, own, *all)).collect();
    shared::add_all(growing, &mut nodes);
    nodes.into_iter().map(|(histogram, ..)| histogram).collect()
}

/// Finds the split of a level and partitions the rows of its nodes; returns the numbers of rows that go left in each
/// node. A split whose gain comes from a child without rows, that is, from a rounding error, is discarded.
fn divide<N: Numbers>(
    team: &Team<'_>,
    growing: &Growing<'_, N>,
    histograms: &mut [Histogram<N::Sum>],
    leaves: &[usize],
    nodes: &mut [Arrangement<'_, N::Pair>],
) -> Option<(Question, Vec<Middle>)> {
    let map = growing.grower.search.map;
    loop {
        let question = ask(team, growing, histograms)?;
        let own = partition_all(team, nodes, &question.sides);
        let mut of_all: Vec<u64> = own.iter().map(|&own| own as u64).collect();
        growing.grower.peers.sum(&mut of_all);
        let count = |(own, all)| Middle { own, all: usize::try_from(all).unwrap_or(usize::MAX) };
        let middles: Vec<Middle> = own.into_iter().zip(of_all).map(count).collect();
        let mut gained = false;
        for (&leaf, middle) in leaves.iter().zip(&middles) {
            let (node, histogram) = (&growing.grown.leaves[leaf], &mut histograms[leaf]);
            if middle.all == 0 || middle.all == node.totals.rows {
                let left = left_sum(histogram, &question.sides, map.feature_offsets());
                let gain = gain_of(growing, &node.totals, left, growing.direction(&question));
                gained |= question.sides.clear(middle.all == 0, map, histogram) && gain != 0.0;
            }
        }
        // Clearing rounding errors that had gained something changes the gains, so the search is repeated.
        if !gained {
            return Some((question, middles));
        }
    }
}

/// Numbers of rows of a left child.
#[derive(Debug, Clone, Copy)]
struct Middle {
    /// In this process.
    own: usize,
    /// On all workers.
    all: usize,
}

/// Both children of a node.
struct Children<S> {
    found: Found<S>,
    totals: [Totals<S>; 2],
    /// Rows of the left child in this process.
    middle: usize,
    histograms: [Histogram<S>; 2],
}

/// Nodes of a level, sorted by their rows.
struct Level<'a, 'r, P> {
    /// Index of each leaf.
    leaves: &'a [usize],
    nodes: &'a [Arrangement<'r, P>],
    middles: &'a [Middle],
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
    let sides: Vec<bool> = leaves
        .iter()
        .zip(middles)
        .map(|(&leaf, middle)| middle.all <= growing.grown.leaves[leaf].totals.rows - middle.all)
        .collect();
    let smaller = |((rows, middle), &left): ((&Arrangement<'_, N::Pair>, &Middle), &bool)| {
        if left { 0..middle.own } else { middle.own..rows.order.len() }
    };
    let ranges: Vec<_> = nodes.iter().zip(nodes.iter().zip(middles).zip(&sides).map(smaller)).collect();
    let of_all = |(leaf, middle): (&usize, &Middle)| {
        let all = growing.grown.leaves[*leaf].totals.rows;
        middle.all.min(all - middle.all)
    };
    let of_all: Vec<usize> = leaves.iter().zip(middles).map(of_all).collect();
    let mut smalls = if last { Vec::new() } else { sums(team, growing, &ranges, &of_all) }.into_iter();
    let tasks: Vec<_> = leaves
        .iter()
        .zip(&ranges)
        .zip(middles)
        .zip(&sides)
        .map(|(((&leaf, (rows, smaller)), &middle), &left)| {
            let histogram = std::mem::take(&mut histograms[leaf]);
            (leaf, &rows.pairs[smaller.clone()], left, middle, histogram, smalls.next())
        })
        .collect();
    team.map(Phase::Search, tasks, |(leaf, pairs, smaller_left, middle, mut large, small)| {
        let node = &growing.grown.leaves[leaf].totals;
        let left = left_sum(&large, &question.sides, growing.grower.search.map.feature_offsets());
        let (sides, how) = (question.sides.clone(), question.how.clone());
        let found = Found { gain: gain_of(growing, node, left, growing.direction(question)), sides, how, left };
        let (left, right) = if !N::EXACT {
            (left, node.sum.minus(left))
        } else {
            let exact = sum_of::<N>(pairs);
            if smaller_left { (exact, node.sum.minus(exact)) } else { (node.sum.minus(exact), exact) }
        };
        let limits = Limits::FREE;
        let mut totals =
            [(left, middle.all), (right, node.rows - middle.all)].map(|(sum, rows)| Totals { sum, rows, limits });
        growing.limit(&node.limits, &found, &mut totals);
        let histograms = match small {
            None => {
                growing.buffers.keep(large);
                [Histogram::default(), Histogram::default()]
            }
            Some(small) => {
                subtract(&mut large, &small);
                if smaller_left { [small, large] } else { [large, small] }
            }
        };
        (leaf, Children { found, totals, middle: middle.own, histograms })
    })
}

/// Maximum depth: the number of leaves doubles with every level.
const MAX_DEPTH: usize = 16;

/// Returns the split with the largest total gain over all leaves.
fn ask<N: Numbers>(team: &Team<'_>, growing: &Growing<'_, N>, histograms: &[Histogram<N::Sum>]) -> Option<Question> {
    // All leaves have the same features on their paths, so that the limits of one hold for all.
    let limits = &growing.grown.leaves[0].totals.limits;
    let features = growing.grower.features_of(growing.grown.splits.len() as u64, limits);
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
    let scorer = search.constraints.and_then(|_| growing.grower.scorer());
    let direction = |bin| scorer.filter(|_| !categorical).map_or(0, |scorer| scorer.direction_of_cut(feature, bin));
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
        for (at, (gain, bin)) in gains.iter_mut().zip(&bins[..values]).enumerate() {
            let n_bin = usize::from(is_populated(bin));
            (left, n_left) = if categorical { (*bin, n_bin) } else { (left.plus(*bin), n_left + n_bin) };
            if n_left > 0 && n_left < populated + misses {
                gain[0] += gain_of(growing, &leaf.totals, left, direction(at));
            }
            if missing.is_some() && !categorical && n_left + misses > 0 && n_left < populated {
                gain[1] += gain_of(growing, &leaf.totals, left.plus(absent), direction(at));
            }
        }
    }
    let first = &growing.grown.leaves[0].totals.limits;
    let candidates = (values - usize::from(missing.is_none())).max(1) as u64;
    #[expect(clippy::cast_possible_truncation, reason = "below the number of bins")]
    let only = scorer.and_then(|scorer| scorer.pick(feature, first)).map(|random| (random % candidates) as usize);
    let n_rows = growing.grown.leaves.iter().map(|leaf| leaf.totals.rows).sum();
    let net = |gain: f64| scorer.map_or(gain, |scorer| scorer.net_of(gain, feature, first.depth, n_rows));
    let mut best: Option<(f64, usize, bool)> = None;
    for (bin, gains) in gains.iter().enumerate().filter(|(bin, _)| only.is_none_or(|only| only == *bin)) {
        for (gain, with_missing) in gains.iter().map(|&gain| net(gain)).zip([false, true]) {
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

impl<N: Numbers> Growing<'_, N> {
    /// Returns the monotone direction that the split of a level must keep.
    fn direction(&self, question: &Question) -> i8 {
        match (&question.how, self.grower.scorer()) {
            (How::Cut { bin, .. }, Some(scorer)) => scorer.direction_of_cut(question.sides.feature, *bin),
            _ => 0,
        }
    }
}

/// Returns the gain of a split in one leaf; 0 if a child would violate the constraints.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
fn gain_of<N: Numbers>(growing: &Growing<'_, N>, node: &Totals<N::Sum>, left: N::Sum, direction: i8) -> f64 {
    if growing.grower.search.constraints.is_some()
        && let Some(scorer) = growing.grower.scorer()
    {
        // Children in the wrong order both keep the value of the leaf, which gains nothing.
        return scorer.gain(&scorer.terms(node), scorer.real(left), direction, 0.0).unwrap_or(0.0);
    }
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
