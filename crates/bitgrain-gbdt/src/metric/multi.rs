//! Log loss and error rate of several classes.

use super::logloss::LEAST_SHARE;
use super::mean_loss::mean_of_rows;
use super::{Metric, MetricError, MetricInput};
use crate::math::ln;
use crate::objective::class_of;
use crate::samples::invalid_target;

/// Mean negative log-likelihood of the target's class. Probabilities are clipped to at least 1e-15. Name:
/// `multi_logloss`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MultiLogloss;

impl Metric for MultiLogloss {
    fn name(&self) -> String {
        "multi_logloss".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let rows = data.targets.len();
        mean_by_class(
            data,
            || self.name(),
            |row, class, _| -ln(data.predictions[class * rows + row].clamp(LEAST_SHARE, 1.0)),
        )
    }
}

/// Share of misclassified rows; of equally likely classes the first is predicted. Name: `multi_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MultiErrorRate;

impl Metric for MultiErrorRate {
    fn name(&self) -> String {
        "multi_error".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let rows = data.targets.len();
        mean_by_class(
            data,
            || self.name(),
            |row, class, classes| {
                let share = |class: usize| data.predictions[class * rows + row];
                let truth = share(class);
                // NaN in any class makes the sum NaN, and the row undefined.
                let sum: f64 = (0..classes).map(share).sum();
                let better = (0..class).any(|other| share(other) >= truth);
                let wrong = better || (class + 1..classes).any(|other| share(other) > truth);
                if sum.is_nan() { f64::NAN } else { f64::from(u8::from(wrong)) }
            },
        )
    }
}

/// Returns the weighted mean of `cost(row, class, classes)`.
fn mean_by_class(
    data: &MetricInput<'_>,
    metric: impl FnOnce() -> String,
    cost: impl Fn(usize, usize, usize) -> f64 + Sync,
) -> Result<f64, MetricError> {
    let rows = data.targets.len();
    let classes = data.predictions.len().checked_div(rows).unwrap_or(0).max(1);
    data.check(classes)?;
    let class = |row: usize| class_of(data.targets[row], classes);
    mean_of_rows(data, |row| class(row).map_or(f64::NAN, |class| cost(row, class, classes)))?.map_err(|row| {
        let label = data.targets[row];
        match class(row) {
            None => invalid_target(row, label, || MetricError::Label { row, label, classes }),
            Some(class) => MetricError::Row {
                row,
                target: label,
                prediction: data.predictions[class * rows + row],
                metric: metric(),
                takes: "predictions other than NaN for every class",
            },
        }
    })
}
