//! Area under the precision-recall curve.

use super::ranking::for_ties;
use super::{Metric, MetricError, MetricInput};

/// Area under the precision-recall curve as a step function: the mean precision over all thresholds, weighted by the
/// increase in recall. Class 1 must have rows. Name: `average_precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AveragePrecision;

impl Metric for AveragePrecision {
    fn name(&self) -> String {
        "average_precision".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let (mut positive, mut all, mut area) = (0.0, 0.0, 0.0);
        let total = for_ties(
            data,
            || self.name(),
            |tied| {
                positive += tied.positive;
                all += tied.positive + tied.negative;
                area += tied.positive * (positive / all);
            },
        )?;
        if total.positive == 0.0 {
            return Err(MetricError::OneClass { metric: "average_precision", missing: 1 });
        }
        Ok(area / total.positive)
    }
}
