//! Random choices that depend on a seed and on nothing else.

use bitgrain_kernels::histograms::PairF32;

use super::Params;
use crate::random::{mixed, share};

/// The way in which the rows of a tree are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleStrategy {
    /// A uniform sample: `subsample` of the rows, drawn again after `subsample_freq` rounds.
    #[default]
    Bagging,
    /// Gradient-based one-side sampling: `top_rate` of the rows with the largest gradients are kept, and `other_rate` are
    /// drawn from the others and weighted up.
    Goss,
}

/// A random part of the rows for each tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bagging {
    fraction: f64,
    /// Rounds that share one draw.
    every: usize,
}

/// Rows with large gradients are kept, some of the others stand for the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goss {
    top_rate: f64,
    other_rate: f64,
}

impl Params {
    /// The uniform sample, if these settings ask for one.
    pub(crate) fn bagging(&self) -> Option<Bagging> {
        let samples = self.data_sample_strategy == SampleStrategy::Bagging && self.subsample_freq > 0;
        (samples && self.subsample < 1.0).then_some(Bagging { fraction: self.subsample, every: self.subsample_freq })
    }

    /// The gradient-based sample, if these settings ask for one.
    pub(crate) fn goss(&self) -> Option<Goss> {
        let Self { top_rate, other_rate, .. } = *self;
        (self.data_sample_strategy == SampleStrategy::Goss).then_some(Goss { top_rate, other_rate })
    }
}

/// A share of some items, at least one if there are any, in their order.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of features"
)]
pub(crate) fn some_of(items: &[usize], share: f64, seed: u64) -> Vec<usize> {
    let count = ((items.len() as f64 * share).round() as usize).max(1).min(items.len());
    let mut keyed: Vec<(u64, usize)> = items.iter().map(|&item| (mixed(seed ^ mixed(item as u64)), item)).collect();
    keyed.sort_unstable();
    let mut chosen: Vec<usize> = keyed[..count].iter().map(|&(_, item)| item).collect();
    chosen.sort_unstable();
    chosen
}

/// A share of the rows; the same for `every` rounds. `None` if that is all of them.
pub(crate) fn bag(bagging: Bagging, seed: u64, round: usize, n_rows: usize) -> Option<Vec<bool>> {
    if bagging.fraction >= 1.0 {
        return None;
    }
    let seed = mixed(seed ^ mixed((round / bagging.every.max(1)) as u64 ^ 0xBA66));
    Some((0..n_rows as u64).map(|row| share(mixed(seed ^ row)) < bagging.fraction).collect())
}

/// The rows of the largest gradients, and some of the others, which stand for all of them: their gradients grow.
/// `None` in the first rounds, when every row has something to say.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of rows, and a factor of f32 gradients"
)]
pub(crate) fn goss(
    goss: Goss,
    params: &Params,
    round: usize,
    n_rows: usize,
    exact: &mut [PairF32],
) -> Option<Vec<bool>> {
    if (round as f64) < 1.0 / params.learning_rate || goss.top_rate + goss.other_rate >= 1.0 {
        return None;
    }
    let mut sizes: Vec<f32> = vec![0.0; n_rows];
    for column in exact.chunks(n_rows) {
        sizes.iter_mut().zip(column).for_each(|(size, pair)| *size += (pair.grad * pair.hess).abs());
    }
    let top = ((n_rows as f64 * goss.top_rate) as usize).clamp(1, n_rows) - 1;
    let mut sorted = sizes.clone();
    let (_, &mut least, _) = sorted.select_nth_unstable_by(top, |a, b| b.total_cmp(a));
    let seed = mixed(params.seed ^ mixed(round as u64 ^ 0x6055));
    let chance = goss.other_rate / (1.0 - goss.top_rate);
    let factor = (1.0 / chance) as f32;
    let mut chosen = vec![false; n_rows];
    for (row, (chosen, &size)) in chosen.iter_mut().zip(&sizes).enumerate() {
        if size >= least {
            *chosen = true;
        } else if share(mixed(seed ^ row as u64)) < chance {
            *chosen = true;
            for column in exact.chunks_mut(n_rows) {
                let pair = &mut column[row];
                *pair = PairF32 { grad: pair.grad * factor, hess: pair.hess * factor };
            }
        }
    }
    Some(chosen)
}
