//! Symmetric (oblivious) trees: all nodes of a level use the same split.

use std::ops::Range;

use rayon::prelude::*;

use super::{Arrangement, Growing, Histogram, Numbers, Sides, Sum};
use crate::train::split::{Found, How, Totals, is_larger};

/// Split of a whole level.
#[derive(Debug, Clone)]
struct Question {
    gain: f64,
    how: How,
    sides: Sides,
}

/// Grows level by level, as long as a split gains anything.
pub(super) fn grow<N: Numbers>(growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let depth = growing.grower.max_depth().min(MAX_DEPTH);
    let all = growing.grown.leaves[0].rows.clone();
    let mut histograms = vec![growing.histogram(rows, all, Vec::new())];
    for level in 0..depth {
        let Some((question, middles)) = divide(growing, &mut histograms, rows) else { break };
        let last = level + 1 == depth;
        let mut nodes: Vec<(usize, Histogram<N::Sum>)> = histograms.into_iter().enumerate().collect();
        nodes.sort_by_key(|(leaf, _)| place(growing, *leaf));
        let places: Vec<Range<usize>> =
            nodes.iter().map(|(leaf, _)| growing.grown.leaves[*leaf].rows.clone()).collect();
        let tasks: Vec<_> = nodes.into_iter().zip(rows.parts(&places)).collect();
        let part = |((leaf, histogram), rows): ((usize, _), Arrangement<'_, N::Pair>)| {
            (leaf, part(growing, leaf, histogram, (&rows, middles[leaf]), &question, last))
        };
        let mut parted: Vec<_> = tasks.into_par_iter().map(part).collect();
        parted.sort_unstable_by_key(|(leaf, _)| *leaf);
        let mut of_right = Vec::new();
        histograms = Vec::new();
        for (leaf, Parted { found, totals, histograms: [left, right] }) in parted {
            growing.divide(leaf, found, totals);
            histograms.push(left);
            of_right.push(right);
        }
        histograms.append(&mut of_right);
    }
}

/// Returns the range of a leaf's rows as a sort key.
fn place<N: Numbers>(growing: &Growing<'_, N>, leaf: usize) -> (usize, usize) {
    let rows = &growing.grown.leaves[leaf].rows;
    (rows.start, rows.end)
}

/// Finds the split of a level and partitions the rows of its nodes; returns the number of rows that go left in each
/// node. A split whose gain comes from a child without rows, that is, from a rounding error, is discarded.
fn divide<N: Numbers>(
    growing: &Growing<'_, N>,
    histograms: &mut [Histogram<N::Sum>],
    rows: &mut Arrangement<'_, N::Pair>,
) -> Option<(Question, Vec<usize>)> {
    let map = growing.grower.search.map;
    let mut leaves: Vec<usize> = (0..histograms.len()).collect();
    leaves.sort_by_key(|&leaf| place(growing, leaf));
    let places: Vec<Range<usize>> = leaves.iter().map(|&leaf| growing.grown.leaves[leaf].rows.clone()).collect();
    loop {
        let question = ask(growing, histograms)?;
        let split = |(leaf, mut rows): (usize, Arrangement<'_, N::Pair>)| {
            (leaf, if rows.order.is_empty() { 0 } else { rows.split(&question.sides, map) })
        };
        let nodes: Vec<_> = leaves.iter().copied().zip(rows.parts(&places)).collect();
        let mut counts: Vec<(usize, usize)> = nodes.into_par_iter().map(split).collect();
        counts.sort_unstable();
        let mut gained = false;
        for (&(leaf, middle), histogram) in counts.iter().zip(&mut *histograms) {
            let node = &growing.grown.leaves[leaf];
            if middle == 0 || middle == node.rows.len() {
                let left = left_sum(histogram, &question.sides, map.feature_offsets());
                let gain = gain_of(growing, &node.totals, left);
                gained |= question.sides.clear(middle == 0, map, histogram) && gain != 0.0;
            }
        }
        // Clearing rounding errors that had gained something changes the gains, so the search is repeated.
        if !gained {
            return Some((question, counts.into_iter().map(|(_, middle)| middle).collect()));
        }
    }
}

/// Both children of a node.
struct Parted<S> {
    found: Found<S>,
    totals: [Totals<S>; 2],
    histograms: [Histogram<S>; 2],
}

/// Returns the children of a node whose rows are already partitioned. Children of the last level get no histograms.
fn part<N: Numbers>(
    growing: &Growing<'_, N>,
    leaf: usize,
    mut large: Histogram<N::Sum>,
    (rows, middle): (&Arrangement<'_, N::Pair>, usize),
    question: &Question,
    last: bool,
) -> Parted<N::Sum> {
    let node = &growing.grown.leaves[leaf].totals;
    let map = growing.grower.search.map;
    let left = left_sum(&large, &question.sides, map.feature_offsets());
    let n_rows = rows.order.len();
    let (sides, how) = (question.sides.clone(), question.how.clone());
    let found = Found { gain: gain_of(growing, node, left), sides, how, left };
    let totals = super::children::<N>(node, left, rows.pairs, middle);
    if last {
        return Parted { found, totals, histograms: [Vec::new(), Vec::new()] };
    }
    let smaller_left = middle <= n_rows - middle;
    let smaller = if smaller_left { 0..middle } else { middle..n_rows };
    let small = growing.histogram(rows, smaller, Vec::new());
    super::subtract(&mut large, &small);
    let histograms = if smaller_left { [small, large] } else { [large, small] };
    Parted { found, totals, histograms }
}

/// Maximum depth: the number of leaves doubles with every level.
const MAX_DEPTH: usize = 16;

/// Returns the split with the largest total gain over all leaves.
fn ask<N: Numbers>(growing: &Growing<'_, N>, histograms: &[Histogram<N::Sum>]) -> Option<Question> {
    let features = growing.grower.features_of(growing.grown.splits.len() as u64);
    let best = features.par_iter().filter_map(|&feature| of_feature(growing, histograms, feature));
    let better = |a: Question, b: Question| {
        let first = a.gain > b.gain || (a.gain == b.gain && a.sides.feature < b.sides.feature);
        if first { a } else { b }
    };
    best.reduce_with(better)
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
