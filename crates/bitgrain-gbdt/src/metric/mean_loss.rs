//! Weighted means of losses.

use super::{MetricError, MetricInput, sums};
use crate::samples::invalid_target;

/// Returns the weighted mean of `loss(target, prediction)`, or an error for the first row where it is NaN. `takes`
/// describes valid rows in that error.
pub(super) fn mean_loss(
    data: &MetricInput<'_>,
    metric: impl FnOnce() -> String,
    takes: &'static str,
    loss: impl Fn(f64, f64) -> f64 + Sync,
) -> Result<f64, MetricError> {
    data.check(1)?;
    mean_of_rows(data, |row| loss(data.targets[row], data.predictions[row]))?.map_err(|row| {
        let (target, prediction) = (data.targets[row], data.predictions[row]);
        invalid_target(row, target, || MetricError::Row { row, target, prediction, metric: metric(), takes })
    })
}

/// Returns the weighted mean of the loss of each row, or the first row where it is NaN. Rows of weight 0 are skipped.
pub(super) fn mean_of_rows(
    data: &MetricInput<'_>,
    cost: impl Fn(usize) -> f64 + Sync,
) -> Result<Result<f64, usize>, MetricError> {
    let rows = data.targets.len();
    let [sum, total] = sums(rows, |row| {
        let weight = data.weight(row);
        [if weight == 0.0 { 0.0 } else { weight * cost(row) }, weight]
    });
    data.check_total(total)?;
    let undefined = |&row: &usize| data.weight(row) > 0.0 && cost(row).is_nan();
    let bad = if sum.is_nan() { (0..rows).find(undefined) } else { None };
    Ok(bad.map_or(Ok(sum / total), Err))
}
