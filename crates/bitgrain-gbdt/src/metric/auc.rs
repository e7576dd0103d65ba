//! Area under the ROC curve.

use super::ranking::for_ties;
use super::{Metric, MetricError, MetricInput};

/// Area under the ROC curve: the probability that a row of class 1 has a higher prediction than a row of class 0, where
/// a tie counts half. Both classes must have rows. Name: `auc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Auc;

impl Metric for Auc {
    fn name(&self) -> String {
        "auc".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let (mut above, mut pairs) = (0.0, 0.0);
        let total = for_ties(
            data,
            || self.name(),
            |tied| {
                pairs += tied.negative * (above + 0.5 * tied.positive);
                above += tied.positive;
            },
        )?;
        for (weight, missing) in [(total.positive, 1), (total.negative, 0)] {
            if weight == 0.0 {
                return Err(MetricError::OneClass { metric: "auc", missing });
            }
        }
        Ok(pairs / (total.positive * total.negative))
    }
}
