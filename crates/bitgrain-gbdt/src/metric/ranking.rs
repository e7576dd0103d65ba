//! Rows of two classes, sorted by prediction.

use rayon::prelude::*;

use super::{MetricError, MetricInput};
use crate::SampleError;
use crate::samples::invalid_target;

/// Total weight per class of the rows with equal predictions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tied {
    pub(super) positive: f64,
    pub(super) negative: f64,
}

/// Calls `visit` for each distinct prediction, highest first, and returns the totals. Rows of weight 0 are skipped.
pub(super) fn for_ties(
    data: &MetricInput<'_>,
    metric: impl Fn() -> String,
    visit: impl FnMut(Tied),
) -> Result<Tied, MetricError> {
    data.check(1)?;
    match data.weights {
        None => walk(&split::<u64>(data, metric)?, visit),
        Some(_) => walk(&split::<(u64, u32)>(data, metric)?, visit),
    }
}

/// Sort key of a row: prediction, then weight, so that sums have a single order.
trait Row: Ord + Copy + Send {
    fn new(key: u64, weight: f64) -> Self;
    fn key(self) -> u64;
    fn weight(self) -> f64;
}

impl Row for u64 {
    fn new(key: u64, _weight: f64) -> Self {
        key
    }

    fn key(self) -> u64 {
        self
    }

    fn weight(self) -> f64 {
        1.0
    }
}

/// Nonnegative weights have the same order as their bits.
impl Row for (u64, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    fn new(key: u64, weight: f64) -> Self {
        (key, (weight as f32).to_bits())
    }

    fn key(self) -> u64 {
        self.0
    }

    fn weight(self) -> f64 {
        f64::from(f32::from_bits(self.1))
    }
}

/// Rows of class 1 and of class 0, lowest prediction first.
struct Classes<R> {
    positive: Vec<R>,
    negative: Vec<R>,
}

fn split<R: Row>(data: &MetricInput<'_>, metric: impl Fn() -> String) -> Result<Classes<R>, MetricError> {
    let (mut positive, mut negative) = (Vec::new(), Vec::with_capacity(data.targets.len()));
    let mut bad_weight = false;
    for (row, (&target, &prediction)) in data.targets.iter().zip(data.predictions).enumerate() {
        let weight = data.weight(row);
        bad_weight |= weight.is_nan();
        if weight == 0.0 {
            continue;
        }
        let class = if target == 1.0 {
            &mut positive
        } else if target == 0.0 {
            &mut negative
        } else {
            return Err(invalid_row(data, row, metric()));
        };
        if prediction.is_nan() {
            return Err(invalid_row(data, row, metric()));
        }
        class.push(R::new(ordered(prediction), weight));
    }
    if bad_weight {
        data.check_total(f64::NAN)?;
    }
    rayon::join(|| positive.par_sort_unstable(), || negative.par_sort_unstable());
    Ok(Classes { positive, negative })
}

fn invalid_row(data: &MetricInput<'_>, row: usize, metric: String) -> MetricError {
    let (target, prediction) = (data.targets[row], data.predictions[row]);
    let takes = "targets 0 or 1 and predictions other than NaN";
    invalid_target(row, target, || MetricError::Row { row, target, prediction, metric, takes })
}

/// Maps a number to bits with the same order; both zeros have the same bits.
pub(super) fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn walk<R: Row>(classes: &Classes<R>, mut visit: impl FnMut(Tied)) -> Result<Tied, MetricError> {
    let (mut positive, mut negative) = (classes.positive.as_slice(), classes.negative.as_slice());
    let mut total = Tied::default();
    loop {
        let highest = match (positive.last(), negative.last()) {
            (Some(a), Some(b)) => a.key().max(b.key()),
            (Some(one), None) | (None, Some(one)) => one.key(),
            (None, None) => break,
        };
        let tied = Tied { positive: take(&mut positive, highest), negative: take(&mut negative, highest) };
        total.positive += tied.positive;
        total.negative += tied.negative;
        visit(tied);
    }
    if total == Tied::default() { Err(SampleError::NoWeight.into()) } else { Ok(total) }
}

/// Removes the last rows with a key and returns their total weight.
fn take<R: Row>(rows: &mut &[R], key: u64) -> f64 {
    let mut weight = 0.0;
    while let Some((last, rest)) = rows.split_last() {
        if last.key() != key {
            break;
        }
        weight += last.weight();
        *rows = rest;
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_numbers_are() {
        let values = [f64::NEG_INFINITY, -1e300, -1.0, -1e-310, 0.0, 1e-310, 0.5, 1.0, f64::INFINITY];
        assert!(values.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
