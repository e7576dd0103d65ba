//! Chooses one offer per tensor within a limit: the multiple-choice knapsack problem, by dynamic programming.
//!
//! Bytes are counted in units of their greatest common divisor, which is large because matrix dimensions are round
//! numbers; the solution is then optimal. If that needs too many steps, and for errors, costs are rounded up to one of
//! [`STEPS`], so that the limit always holds; the slack from rounding is then spent greedily, one tensor at a time.

use super::{Choices, Offer};

/// Number of steps of a limit whose costs have no common unit; fewer if the table would exceed [`TABLE`].
const STEPS: usize = 1 << 16;
/// Maximum size of the table of choices in bytes.
const TABLE: usize = 64 << 20;

/// Minimizes the error within `bytes`. The smallest offers must fit.
#[expect(clippy::cast_precision_loss, reason = "sizes of files are far below 2^53")]
pub(super) fn least_error(tensors: &[Choices<'_>], bytes: u64) -> Vec<usize> {
    let smallest = vec![0; tensors.len()];
    let sizes = tensors.iter().flat_map(|tensor| tensor.offers.iter().map(|offer| offer.bytes));
    let unit = sizes.fold(0, gcd).max(1);
    solve(tensors, bytes as f64, Some(unit as f64), |offer| offer.bytes as f64, |offer| offer.error, smallest)
}

/// Minimizes the bytes within `error`. The largest offers must not exceed it.
#[expect(clippy::cast_precision_loss, reason = "sizes of files are far below 2^53")]
pub(super) fn fewest_bytes(tensors: &[Choices<'_>], error: f64) -> Vec<usize> {
    let largest = tensors.iter().map(|tensor| tensor.offers.len() - 1).collect();
    solve(tensors, error, None, |offer| offer.error, |offer| offer.bytes as f64, largest)
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns offers that minimize the sum of `value` with a sum of `cost` of at most `limit`. `feasible` is a known
/// solution within the limit; every cost is a multiple of `unit`, if given.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small counts"
)]
fn solve(
    tensors: &[Choices<'_>],
    limit: f64,
    unit: Option<f64>,
    cost: impl Fn(&Offer) -> f64,
    value: impl Fn(&Offer) -> f64,
    feasible: Vec<usize>,
) -> Vec<usize> {
    let total = |chosen: &[usize], of: &dyn Fn(&Offer) -> f64| -> f64 {
        tensors.iter().zip(chosen).map(|(tensor, at)| of(&tensor.offers[*at])).sum()
    };
    // A limit above the largest possible cost would only make the table larger.
    let most: f64 = tensors.iter().map(|tensor| tensor.offers.iter().map(&cost).fold(0.0, f64::max)).sum();
    let limit = limit.min(most);
    let most_steps = (TABLE / tensors.len().max(1)).max(1);
    let exact = unit.map(|unit| (unit, (limit / unit).floor())).filter(|(_, steps)| *steps <= most_steps as f64);
    let (unit, steps) = match exact {
        Some((unit, steps)) => (unit, steps as usize),
        None => (limit / STEPS.min(most_steps) as f64, STEPS.min(most_steps)),
    };
    let rounded = table(tensors, unit, steps, &cost, &value);
    let better = rounded.filter(|chosen| total(chosen, &value) < total(&feasible, &value));
    let mut chosen = better.unwrap_or(feasible);
    // Spend the slack that rounding left: apply the best single change until no change helps. The relative tolerance of
    // 1e-12 keeps rounding errors of the sums from rejecting an exact fit or from looping on gains of zero.
    loop {
        let (spent, current) = (total(&chosen, &cost), total(&chosen, &value));
        let slack = limit * (1.0 + 1e-12) - spent;
        let mut best = (1e-12 * current.abs(), None);
        for (i, tensor) in tensors.iter().enumerate() {
            let now = &tensor.offers[chosen[i]];
            for (at, offer) in tensor.offers.iter().enumerate() {
                let gain = value(now) - value(offer);
                if gain > best.0 && cost(offer) - cost(now) <= slack {
                    best = (gain, Some((i, at)));
                }
            }
        }
        match best.1 {
            Some((i, at)) => chosen[i] = at,
            None => return chosen,
        }
    }
}

/// Solves the problem over costs counted in units, or returns `None` if no choice fits into `steps` units.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small counts"
)]
fn table(
    tensors: &[Choices<'_>],
    unit: f64,
    steps: usize,
    cost: impl Fn(&Offer) -> f64,
    value: impl Fn(&Offer) -> f64,
) -> Option<Vec<usize>> {
    if unit <= 0.0 {
        return None;
    }
    // Round up, so that the true cost never exceeds the limit. `steps + 1` stands for an offer that never fits.
    let rounded = |offer: &Offer| (cost(offer) / unit).ceil().min(steps as f64 + 1.0) as usize;
    // best[s]: the least value of the tensors so far with at most `s` units spent.
    let mut best = vec![0.0; steps + 1];
    let mut picks: Vec<Vec<u8>> = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let offers: Vec<_> = tensor.offers.iter().map(|offer| (rounded(offer), value(offer))).collect();
        let mut next = vec![f64::INFINITY; steps + 1];
        let mut pick = vec![u8::MAX; steps + 1];
        // One byte per choice keeps the table small; `u8::MAX` marks a state that no offer reaches.
        for (at, (spends, value)) in (0_u8..u8::MAX).zip(offers) {
            for spent in spends..=steps {
                let here = best[spent - spends] + value;
                if here < next[spent] {
                    (next[spent], pick[spent]) = (here, at);
                }
            }
        }
        best = next;
        picks.push(pick);
    }
    // Walk back from the last tensor. A marked state has no offer, which ends the walk with `None`.
    let mut left = steps;
    let mut chosen = vec![0; tensors.len()];
    for (i, tensor) in tensors.iter().enumerate().rev() {
        let at = usize::from(picks[i][left]);
        left -= rounded(tensor.offers.get(at)?);
        chosen[i] = at;
    }
    Some(chosen)
}
