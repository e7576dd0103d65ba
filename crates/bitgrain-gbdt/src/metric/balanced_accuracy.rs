//! Balanced accuracy of two or several classes.

use super::{Metric, MetricError, MetricInput};
use crate::objective::class_of;
use crate::samples::invalid_target;

/// Mean over the classes of the share of their rows that are classified correctly. Classes without rows do not count.
/// Name: `balanced_accuracy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BalancedAccuracy;

impl Metric for BalancedAccuracy {
    fn name(&self) -> String {
        "balanced_accuracy".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let rows = data.targets.len();
        let outputs = data.predictions.len().checked_div(rows).unwrap_or(0).max(1);
        data.check(outputs)?;
        data.check_total((0..rows).map(|row| data.weight(row)).sum())?;
        let classes = outputs.max(2);
        let (mut right, mut total) = (vec![0.0; classes], vec![0.0; classes]);
        for (row, &target) in data.targets.iter().enumerate() {
            let weight = data.weights.map_or(1.0, |weights| f64::from(weights[row]));
            let Some(class) = class_of(target, classes) else {
                return Err(invalid_target(row, target, || MetricError::Label { row, label: target, classes }));
            };
            let share = |output: usize| data.predictions[output * rows + row];
            if (0..outputs).any(|output| share(output).is_nan()) {
                let (metric, takes) = (self.name(), "predictions other than NaN");
                return Err(MetricError::Row { row, target, prediction: f64::NAN, metric, takes });
            }
            let found = match outputs {
                1 => usize::from(share(0) > 0.5),
                _ => (1..outputs).fold(0, |best, output| if share(output) > share(best) { output } else { best }),
            };
            total[class] += weight;
            right[class] += if found == class { weight } else { 0.0 };
        }
        let shares: Vec<f64> =
            right.iter().zip(&total).filter(|(_, total)| **total > 0.0).map(|(right, total)| right / total).collect();
        #[expect(clippy::cast_precision_loss, reason = "at most 65,536 classes")]
        let count = shares.len() as f64;
        Ok(shares.iter().sum::<f64>() / count)
    }
}
