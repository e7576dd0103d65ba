//! Seeded sampling of rows and features.

use bitgrain_kernels::histograms::PairF32;

use super::Params;
use crate::random::{mixed, share};

/// Sampling of the rows of each tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleStrategy {
    /// A uniform sample: a share of `subsample` of the rows, redrawn every `subsample_freq` rounds.
    #[default]
    Bagging,
    /// Gradient-based one-side sampling: keeps the `top_rate` of the rows with the largest gradients, draws
    /// `other_rate` from the others and scales their gradients up.
    Goss,
}

/// Uniform sampling of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bagging {
    fraction: f64,
    /// Number of rounds that share a sample.
    every: usize,
}

/// Gradient-based one-side sampling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goss {
    top_rate: f64,
    other_rate: f64,
}

impl Params {
    /// Returns the settings of uniform sampling if it is enabled.
    pub(crate) fn bagging(&self) -> Option<Bagging> {
        let samples = self.data_sample_strategy == SampleStrategy::Bagging && self.subsample_freq > 0;
        (samples && self.subsample < 1.0).then_some(Bagging { fraction: self.subsample, every: self.subsample_freq })
    }

    /// Returns the settings of gradient-based sampling if it is enabled.
    pub(crate) fn goss(&self) -> Option<Goss> {
        let Self { top_rate, other_rate, .. } = *self;
        (self.data_sample_strategy == SampleStrategy::Goss).then_some(Goss { top_rate, other_rate })
    }
}

/// Returns a random share of the items in their order, at least one if there are any.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the number of features fits usize"
)]
pub(crate) fn sample_items(items: &[usize], share: f64, seed: u64) -> Vec<usize> {
    let count = ((items.len() as f64 * share).round() as usize).max(1).min(items.len());
    let mut keyed: Vec<(u64, usize)> = items.iter().map(|&item| (mixed(seed ^ mixed(item as u64)), item)).collect();
    keyed.sort_unstable();
    let mut chosen: Vec<usize> = keyed[..count].iter().map(|&(_, item)| item).collect();
    chosen.sort_unstable();
    chosen
}

/// Draws a share of the rows; the same for `every` rounds. Returns `None` if all rows are used.
pub(crate) fn bag(bagging: Bagging, seed: u64, round: usize, n_rows: usize) -> Option<Vec<bool>> {
    if bagging.fraction >= 1.0 {
        return None;
    }
    let seed = mixed(seed ^ mixed((round / bagging.every.max(1)) as u64 ^ 0xBA66));
    Some((0..n_rows as u64).map(|row| share(mixed(seed ^ row)) < bagging.fraction).collect())
}

/// Keeps the rows with the largest gradients and draws some of the others, whose gradients are scaled up so that sums
/// keep their expectation. Returns `None` in the first rounds, which use all rows as in LightGBM.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of rows fit usize; gradients are f32"
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
