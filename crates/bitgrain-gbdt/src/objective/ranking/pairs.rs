//! Gradients of all pairs of a query's rows, in the order of their scores.

use std::f64::consts::LN_2;

use crate::math::{exp, ln};

/// Pairs per step, so that the compiler vectorizes; also the number of partial sums, which fixes their order.
const LANES: usize = 4;

/// Largest distance of scores, in units of the slope, at which the exponentials of a query do not underflow.
const FARTHEST: f64 = 600.0;

/// A query sorted by score, best first. Buffers are reused, so that a query costs no allocation.
#[derive(Debug, Default)]
pub(super) struct RankedQuery {
    /// Sort key and row of each rank.
    order: Vec<u64>,
    scores: Vec<f64>,
    /// Exponential of the scaled score, relative to the best.
    powers: Vec<f64>,
    grads: Vec<f64>,
    hess: Vec<f64>,
    /// Weight of the pairs of the current rank with each rank, positive if the current rank should stay above.
    weights: Vec<f64>,
    /// Ranks, without the padding to whole steps.
    len: usize,
}

/// Shape of the loss of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairLoss {
    /// Factor of score differences in the logistic function.
    pub(super) sigmoid: f64,
    /// Ranks whose pairs with lower ranks count.
    pub(super) truncation: usize,
    /// Whether pairs are divided by their score difference, and the gradients of a query by their size.
    pub(super) normalize: bool,
}

impl RankedQuery {
    /// Sorts the rows of a query; rows of equal score keep their order.
    pub(super) fn sort(&mut self, scores: &[f32], sigmoid: f64) {
        self.len = scores.len();
        self.order.clear();
        self.order.extend(
            scores.iter().zip(0_u32..).map(|(&score, row)| u64::from(!ascending(score)) << 32 | u64::from(row)),
        );
        self.order.sort_unstable();
        let padded = self.len.next_multiple_of(LANES) + LANES;
        let best = self.order.first().map_or(0.0, |key| f64::from(scores[row_of(*key)]));
        self.scores.clear();
        self.scores.extend(self.order.iter().map(|key| f64::from(scores[row_of(*key)])));
        self.powers.clear();
        self.powers.extend(self.scores.iter().map(|score| exp(((score - best) * sigmoid).max(-FARTHEST))));
        // Padding: pairs of weight 0.
        let worst = self.scores.last().copied().unwrap_or_default();
        self.scores.resize(padded, worst);
        self.powers.resize(padded, 1.0);
        for column in [&mut self.grads, &mut self.hess, &mut self.weights] {
            column.clear();
            column.resize(padded, 0.0);
        }
    }

    /// Row at each rank.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.order.iter().map(|key| row_of(*key))
    }

    /// Adds up the gradients of all pairs. `weigh` writes the weights of a rank's pairs with the ranks after it.
    /// Weights are multiplied by `scale`.
    pub(super) fn add_pairs(&mut self, loss: PairLoss, scale: f64, mut weigh: impl FnMut(usize, &mut [f64])) {
        let PairLoss { sigmoid, truncation, normalize } = loss;
        let len = self.len;
        // As in LightGBM: differences of the first round, when all scores are equal, do not divide.
        let divides = normalize && self.scores[0] != self.scores[len.saturating_sub(1)];
        let mut sum = 0.0;
        for rank in 0..truncation.min(len.saturating_sub(1)) {
            weigh(rank, &mut self.weights[rank + 1..len]);
            sum += if divides { self.pairs_of::<true>(rank) } else { self.pairs_of::<false>(rank) };
        }
        sum *= 2.0 * sigmoid * scale;
        let factor = if normalize && sum > 0.0 { ln(1.0 + sum) / LN_2 / sum } else { 1.0 };
        self.grads.iter_mut().for_each(|grad| *grad *= scale * sigmoid * factor);
        self.hess.iter_mut().for_each(|hess| *hess *= scale * sigmoid * sigmoid * factor);
    }

    /// Adds the pairs of a rank with the ranks after it; returns the sum of their gradients' sizes. `e_h` and `e_l` of
    /// the higher and the lower label give the logistic function as `e_l / (e_h + e_l)`, without an exponential per
    /// pair, and a single division serves all quotients.
    fn pairs_of<const DIVIDES: bool>(&mut self, rank: usize) -> f64 {
        let (own_score, own_power) = (self.scores[rank], self.powers[rank]);
        let after = rank + 1;
        let steps = (self.len - after).div_ceil(LANES);
        let all = after..after + steps * LANES;
        let (scores, _) = self.scores[all.clone()].as_chunks::<LANES>();
        let (powers, _) = self.powers[all.clone()].as_chunks::<LANES>();
        let (weights, _) = self.weights[all.clone()].as_chunks::<LANES>();
        let (grads, _) = self.grads[all.clone()].as_chunks_mut::<LANES>();
        let (hess, _) = self.hess[all].as_chunks_mut::<LANES>();
        let (mut grad_sums, mut hess_sums, mut sizes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for ((((scores, powers), weights), grads), hess) in scores.iter().zip(powers).zip(weights).zip(grads).zip(hess)
        {
            for lane in 0..LANES {
                let (power, weight) = (powers[lane], weights[lane]);
                let distance = if DIVIDES { 0.01 + (own_score - scores[lane]) } else { 1.0 };
                let quotient = 1.0 / ((own_power + power) * distance);
                let lower = if weight > 0.0 { power } else { own_power };
                let size = weight * quotient;
                let slope = size * lower;
                let curve = (size.abs() * own_power) * (power * (quotient * distance));
                grads[lane] += slope;
                hess[lane] += curve;
                grad_sums[lane] -= slope;
                hess_sums[lane] += curve;
                sizes[lane] += slope.abs();
            }
        }
        self.grads[rank] += grad_sums.iter().sum::<f64>();
        self.hess[rank] += hess_sums.iter().sum::<f64>();
        sizes.iter().sum()
    }

    /// Writes the gradients and hessians by row.
    #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
    pub(super) fn write(&self, grads: &mut [f32], hess: &mut [f32]) {
        for (row, (grad, curve)) in self.rows().zip(self.grads.iter().zip(&self.hess)) {
            grads[row] = *grad as f32;
            hess[row] = *curve as f32;
        }
    }
}

/// Maps a score to bits with the same order; both zeros have the same bits.
fn ascending(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Row of a sort key.
#[expect(clippy::cast_possible_truncation, reason = "the row is in the lower half")]
fn row_of(key: u64) -> usize {
    key as u32 as usize
}
