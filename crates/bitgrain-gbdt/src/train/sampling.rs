//! Seeded sampling of rows and features.

use bitgrain_kernels::histograms::PairF32;

use super::Params;
use super::scores::Largest;
use super::team::Team;
use super::usage::Phase;
use crate::Groups;
use crate::distributed::Peers;
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

/// Rows per task.
const CHUNK: usize = 1 << 14;

/// Rows and queries of the workers before this one: random numbers belong to rows, not to workers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before {
    pub(crate) rows: u64,
    pub(crate) groups: u64,
}

/// Draws a share of the rows, or of the groups with all of their rows; the same for `every` rounds. Returns `None` if
/// all rows are used.
pub(crate) fn bag(
    team: &Team<'_>,
    bagging: Bagging,
    seed: u64,
    round: usize,
    n_rows: usize,
    before: Before,
    groups: Option<&Groups>,
) -> Option<Vec<bool>> {
    if bagging.fraction >= 1.0 {
        return None;
    }
    let seed = mixed(seed ^ mixed((round / bagging.every.max(1)) as u64 ^ 0xBA66));
    let mut chosen = vec![false; n_rows];
    if let Some(groups) = groups {
        for (group, rows) in groups.ranges().enumerate() {
            chosen[rows].fill(share(mixed(seed ^ (before.groups + group as u64))) < bagging.fraction);
        }
        return Some(chosen);
    }
    let chunks = chosen.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)).collect();
    team.map(Phase::Sampling, chunks, |(chosen, at): (&mut [bool], usize)| {
        for (chosen, row) in chosen.iter_mut().zip(before.rows + at as u64..) {
            *chosen = share(mixed(seed ^ row)) < bagging.fraction;
        }
    });
    Some(chosen)
}

/// Keeps the rows with the largest gradients and draws some of the others, whose gradients are scaled up so that sums
/// keep their expectation; updates the largest gradient of each output. `columns` are the gradients of each output.
/// Returns `None` in the first rounds, which use all rows as in LightGBM.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of rows fit usize; gradients are f32"
)]
pub(super) fn goss(
    team: &Team<'_>,
    goss: Goss,
    params: &Params,
    round: usize,
    (mut columns, n_rows): (Vec<&mut [PairF32]>, usize),
    largest: &mut [Largest],
    peers: &Peers<'_>,
) -> Option<Vec<bool>> {
    if (round as f64) < 1.0 / params.learning_rate || goss.top_rate + goss.other_rate >= 1.0 {
        return None;
    }
    let mut sizes: Vec<f32> = vec![0.0; n_rows];
    let chunks = sizes.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)).collect();
    team.map(Phase::Sampling, chunks, |(sizes, first): (&mut [f32], usize)| {
        for column in &columns {
            sizes.iter_mut().zip(&column[first..]).for_each(|(size, pair)| *size += (pair.grad * pair.hess).abs());
        }
    });
    let all = peers.n_rows();
    let top = ((all as f64 * goss.top_rate) as usize).clamp(1, all) - 1;
    let least = nth_largest(team, &sizes, top, peers);
    let seed = mixed(params.seed ^ mixed(round as u64 ^ 0x6055));
    let chance = goss.other_rate / (1.0 - goss.top_rate);
    let factor = (1.0 / chance) as f32;
    let mut chosen = vec![false; n_rows];
    let mut parts: Vec<_> = columns.iter_mut().map(|column| column.chunks_mut(CHUNK)).collect();
    let tasks = chosen.chunks_mut(CHUNK).zip(sizes.chunks(CHUNK)).enumerate();
    let tasks = tasks.map(|(at, task)| (at * CHUNK, task, parts.iter_mut().filter_map(Iterator::next).collect()));
    type Task<'a> = (usize, (&'a mut [bool], &'a [f32]), Vec<&'a mut [PairF32]>);
    let scaled = team.map(Phase::Sampling, tasks.collect(), |(first, (chosen, sizes), mut columns): Task<'_>| {
        let mut largest = vec![Largest::default(); columns.len()];
        for (at, (chosen, &size)) in chosen.iter_mut().zip(sizes).enumerate() {
            if size >= least {
                *chosen = true;
            } else if share(mixed(seed ^ (peers.first_row() + (first + at) as u64))) < chance {
                *chosen = true;
                for (column, largest) in columns.iter_mut().zip(&mut largest) {
                    let PairF32 { grad, hess } = column[at];
                    column[at] = PairF32 { grad: grad * factor, hess: hess * factor };
                    *largest = largest.max(Largest { grad: (grad * factor).abs(), hess: hess * factor });
                }
            }
        }
        largest
    });
    for scaled in scaled {
        largest.iter_mut().zip(scaled).for_each(|(largest, scaled)| *largest = largest.max(scaled));
    }
    Some(chosen)
}

/// Returns the number at index `rank` of the descending order of non-negative numbers. Counts the upper halves of their
/// bits, then the lower halves among those with the upper half found: the bits of non-negative floats are in order.
fn nth_largest(team: &Team<'_>, numbers: &[f32], mut rank: usize, peers: &Peers<'_>) -> f32 {
    const PART: usize = 1 << 17;
    let mut half = |key: &(dyn Fn(u32) -> Option<u16> + Sync)| {
        let counts = team.map(Phase::Sampling, numbers.chunks(PART).collect(), |part: &[f32]| {
            let mut counts = vec![0_u32; 1 << 16];
            part.iter().filter_map(|number| key(number.to_bits())).for_each(|key| counts[usize::from(key)] += 1);
            counts
        });
        let of_key = |key: u16| counts.iter().map(|part| u64::from(part[usize::from(key)])).sum::<u64>();
        let mut counts: Vec<u64> = (0..=u16::MAX).map(of_key).collect();
        peers.sum(&mut counts);
        for key in (0..=u16::MAX).rev() {
            let count = usize::try_from(counts[usize::from(key)]).unwrap_or(usize::MAX);
            if rank < count {
                return key;
            }
            rank -= count;
        }
        0
    };
    #[expect(clippy::cast_possible_truncation, reason = "both halves are meant")]
    let (upper, lower) = (|bits: u32| (bits >> 16) as u16, |bits: u32| bits as u16);
    let high = half(&|bits| Some(upper(bits)));
    let low = half(&|bits| (upper(bits) == high).then(|| lower(bits)));
    f32::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_largest_is_that_of_sorting() {
        let bits = |at: u64| u32::try_from(mixed(at) >> 40).expect("24 bits");
        let mut numbers: Vec<f32> = (0..300_000_u64).map(|at| f32::from_bits(bits(at) << 6)).collect();
        numbers.extend([0.0, 0.0, f32::INFINITY, 1e-45, f32::MAX]);
        numbers.extend_from_within(..1000);
        let mut sorted = numbers.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        Team::with(2, |team| {
            for rank in [0, 1, 2, 500, 150_000, numbers.len() - 1] {
                assert_eq!(
                    nth_largest(team, &numbers, rank, &Peers::alone(numbers.len())).to_bits(),
                    sorted[rank].to_bits(),
                    "{rank}"
                );
            }
        });
    }
}
