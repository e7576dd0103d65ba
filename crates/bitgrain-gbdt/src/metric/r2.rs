//! Coefficient of determination.

use super::{Metric, MetricError, MetricInput, Mse, sums};

/// Coefficient of determination: 1 minus the ratio of the squared errors to those of the mean. 1 is perfect, 0 is as
/// good as a constant. If the targets have no variance: 1 for perfect predictions, else 0. Name: `r2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct R2;

impl Metric for R2 {
    fn name(&self) -> String {
        "r2".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        // Also rejects invalid rows, invalid weights and empty input.
        let error = Mse.evaluate(data).map_err(|error| match error {
            MetricError::Row { row, target, prediction, takes, .. } => {
                MetricError::Row { row, target, prediction, takes, metric: self.name() }
            }
            other => other,
        })?;
        let rows = data.targets.len();
        let weighted = |row: usize, value: f64| if data.weight(row) == 0.0 { 0.0 } else { data.weight(row) * value };
        let [sum, total] = sums(rows, |row| [weighted(row, data.targets[row]), data.weight(row)]);
        let mean = sum / total;
        let [variance] = sums(rows, |row| [weighted(row, (data.targets[row] - mean).powi(2))]);
        let first = (0..rows).find(|&row| data.weight(row) > 0.0).map(|row| data.targets[row]);
        // Compare the targets themselves: the computed mean of equal numbers need not be exactly that number.
        let constant = (0..rows).all(|row| data.weight(row) == 0.0 || Some(data.targets[row]) == first);
        if constant {
            return Ok(if error == 0.0 { 1.0 } else { 0.0 });
        }
        Ok(1.0 - error * total / variance)
    }
}
