//! Symmetric trees: every node of a level asks the same question.

use rayon::prelude::*;

use super::{Arrangement, Growing, Histogram, Numbers, Sides, Sum};
use crate::train::split::{Found, How, Totals};

/// A question for a whole level.
#[derive(Debug, Clone)]
struct Question {
    gain: f64,
    how: How,
    sides: Sides,
}

/// Level after level, as long as a question gains anything.
pub(super) fn grow<N: Numbers>(growing: &mut Growing<'_, N>, rows: &mut Arrangement<'_, N::Pair>) {
    let depth = growing.grower.max_depth().min(MAX_DEPTH);
    let all = growing.grown.leaves[0].rows.clone();
    let mut histograms = vec![growing.histogram(rows, all)];
    for level in 0..depth {
        let Some(question) = ask(growing, &histograms) else { break };
        let leaves = growing.grown.leaves.len();
        for leaf in 0..leaves {
            let range = growing.grown.leaves[leaf].rows.clone();
            let map = growing.grower.search.map;
            let left = left_sum(&histograms[leaf], &question.sides, map.feature_offsets());
            let middle = if range.is_empty() { range.start } else { rows.split(range.clone(), &question.sides, map) };
            let found = Found {
                gain: gain_of(growing, &growing.grown.leaves[leaf].totals, left),
                sides: question.sides.clone(),
                how: question.how.clone(),
                left,
            };
            let (right, smaller_left) = growing.divide_at(leaf, found, middle, &rows.pairs);
            if level + 1 == depth {
                continue;
            }
            let smaller = if smaller_left { leaf } else { right };
            let small = growing.histogram(rows, growing.grown.leaves[smaller].rows.clone());
            super::subtract(&mut histograms[leaf], &small);
            histograms.push(small);
            if smaller_left {
                let last = histograms.len() - 1;
                histograms.swap(leaf, last);
            }
        }
    }
}

/// Leaves double with every level.
const MAX_DEPTH: usize = 16;

/// The question that gains most over all leaves.
fn ask<N: Numbers>(growing: &Growing<'_, N>, histograms: &[Histogram<N::Sum>]) -> Option<Question> {
    let features = growing.grower.features_of(growing.grown.splits.len());
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
    // Gains of every question: values up to a bin go left, without the missing ones and then with them.
    let mut gains = vec![[0.0; 2]; values];
    for (leaf, histogram) in growing.grown.leaves.iter().zip(histograms) {
        let bins = &histogram[start..end];
        let absent = missing.map_or_else(N::Sum::default, |bin| bins[bin]);
        let mut left = N::Sum::default();
        for (gain, &bin) in gains.iter_mut().zip(&bins[..values]) {
            left = if categorical { bin } else { left.plus(bin) };
            gain[0] += gain_of(growing, &leaf.totals, left);
            if missing.is_some() && !categorical {
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

/// What a leaf gains by a split. One that would leave too little on a side gains nothing by it.
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
    let min_hess = min_rows.max(rules.min_child_weight);
    if left_hess < min_hess || right_hess < min_hess {
        return 0.0;
    }
    rules.worth(left_grad, left_hess, 0.0) + rules.worth(right_grad, right_hess, 0.0) - rules.worth(grad, hess, 0.0)
}

fn left_sum<S: Sum>(histogram: &[S], sides: &Sides, offsets: &[u32]) -> S {
    let bins = &histogram[offsets[sides.feature] as usize..];
    bins.iter().zip(&sides.left).filter(|(_, left)| **left).fold(S::default(), |sum, (bin, _)| sum.plus(*bin))
}
