//! Area under the ROC curve of several classes.

use super::{Auc, Metric, MetricError, MetricInput};
use crate::math::ln;
use crate::objective::class_of;
use crate::samples::invalid_target;

/// Mean over all pairs of classes of the area under the ROC curve, where the rows of a pair are ranked by the difference
/// of the two raw scores (Kleiman and Page, 2019), as in LightGBM. Every class must have rows. Name: `auc_mu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AucMu;

impl Metric for AucMu {
    fn name(&self) -> String {
        "auc_mu".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let rows = data.targets.len();
        let classes = data.predictions.len().checked_div(rows).unwrap_or(0).max(1);
        data.check(classes)?;
        data.check_total((0..rows).map(|row| data.weight(row)).sum())?;
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); classes];
        for (row, &label) in data.targets.iter().enumerate() {
            match class_of(label, classes) {
                Some(class) => of_class[class].push(row),
                None => return Err(invalid_target(row, label, || MetricError::Label { row, label, classes })),
            }
            if (0..classes).any(|class| data.predictions[class * rows + row].is_nan()) {
                let (metric, takes) = (self.name(), "predictions other than NaN");
                return Err(MetricError::Row { row, target: label, prediction: f64::NAN, metric, takes });
            }
        }
        // Differences of raw scores are logarithms of ratios of probabilities.
        let score = |row: usize, class: usize| ln(data.predictions[class * rows + row].max(f64::MIN_POSITIVE));
        let (mut sum, mut pairs) = (0.0, 0.0);
        for one in 0..classes {
            for other in 0..one {
                let both = || of_class[one].iter().chain(&of_class[other]).copied();
                let is_one = |row: usize| f64::from(u8::from(class_of(data.targets[row], classes) == Some(one)));
                let targets: Vec<f64> = both().map(is_one).collect();
                let predictions: Vec<f64> = both().map(|row| tied(score(row, one) - score(row, other))).collect();
                let weights: Option<Vec<f32>> = data.weights.map(|weights| both().map(|row| weights[row]).collect());
                let pair = MetricInput {
                    targets: &targets,
                    predictions: &predictions,
                    weights: weights.as_deref(),
                    groups: None,
                };
                let missing = |class: usize| {
                    let weight = |&row: &usize| data.weights.is_none_or(|weights| weights[row] > 0.0);
                    !of_class[class].iter().any(weight)
                };
                if let Some(class) = [other, one].into_iter().find(|&class| missing(class)) {
                    return Err(MetricError::MissingClass { metric: "auc_mu", class });
                }
                sum += Auc.evaluate(&pair)?;
                pairs += 1.0;
            }
        }
        if pairs == 0.0 { Err(MetricError::MissingClass { metric: "auc_mu", class: 1 }) } else { Ok(sum / pairs) }
    }
}

/// Rounds a difference of logarithms, so that rows with equal raw scores tie: probabilities are rounded.
fn tied(difference: f64) -> f64 {
    (difference * 1e9).round()
}
