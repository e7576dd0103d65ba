//! Lookup of metrics that fit the predictions of an objective.

use super::{Metric, MetricError, by_name, default_for_link};
use crate::model::{Link, Model};
use crate::objective::{self, Objective};

/// Metrics of two and of several classes that share a name in scikit-learn.
const OF_CLASSES: [(&str, &str); 2] = [("logloss", "multi_logloss"), ("error", "multi_error")];

/// Further metrics of several classes; the last also fits two.
const OF_SEVERAL: [&str; 2] = ["auc_mu", "balanced_accuracy"];

/// Creates the built-in metric of a name that fits an objective: with at least three classes, `logloss` means
/// `multi_logloss` and `error` means `multi_error`; with two classes, the reverse.
///
/// ```
/// use bitgrain_gbdt::{metric, objective};
/// let classes = objective::by_name("multiclass:3").expect("a known name");
/// assert_eq!(metric::by_name_for("logloss", &*classes)?.name(), "multi_logloss");
/// assert!(metric::by_name_for("auc", &*classes).is_err()); // defined for two classes only
/// # Ok::<(), metric::MetricError>(())
/// ```
///
/// # Errors
/// Returns the errors of [`by_name`], and [`MetricError::OnePrediction`] or [`MetricError::Classes`] if the metric does
/// not fit the objective.
pub fn by_name_for(text: &str, objective: &dyn Objective) -> Result<Box<dyn Metric>, MetricError> {
    fitting(text, objective.n_outputs(), objective.link(), objective.name())
}

/// Creates the built-in metric of a name that fits the predictions of a model, or the model's default metric.
///
/// # Errors
/// Returns the errors of [`by_name_for`].
pub fn for_model(name: Option<&str>, model: &Model) -> Result<Box<dyn Metric>, MetricError> {
    let output = &model.output;
    match name {
        Some(name) => fitting(name, output.base_scores.len(), output.link, output.objective.clone()),
        // Models of other libraries may have objectives that are unknown here.
        None => Ok(match objective::by_name(&output.objective) {
            Ok(objective) if objective.n_outputs() == output.base_scores.len() => objective.metric(),
            _ => default_for_link(output.link),
        }),
    }
}

fn fitting(text: &str, outputs: usize, link: Link, objective: String) -> Result<Box<dyn Metric>, MetricError> {
    let found = by_name(text)?;
    let name = found.name();
    for (of_two, of_several) in OF_CLASSES {
        if outputs > 1 && name == of_two {
            return by_name(of_several);
        }
        if outputs == 1 && name == of_several && matches!(link, Link::Logistic { .. }) {
            return by_name(of_two);
        }
    }
    if name == "balanced_accuracy" && (outputs > 1 || matches!(link, Link::Logistic { .. })) {
        return Ok(found);
    }
    let of_several = OF_CLASSES.iter().any(|(_, of_several)| *of_several == name) || OF_SEVERAL.contains(&&*name);
    let metric = text.to_owned();
    match (outputs, of_several) {
        (1, true) => Err(MetricError::Classes { metric, objective }),
        (2.., false) => Err(MetricError::OnePrediction { metric, objective, outputs }),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suited(metric: &str, objective: &str) -> Result<String, MetricError> {
        by_name_for(metric, &*objective::by_name(objective).expect("a known name")).map(|metric| metric.name())
    }

    #[test]
    fn one_metric_name_works_for_two_classes_and_for_more() {
        for (metric, objective, want) in [
            ("logloss", "multiclass:3", "multi_logloss"),
            ("binary_error", "multiclass:3", "multi_error"),
            ("mlogloss", "multiclass:3", "multi_logloss"),
            ("mlogloss", "binary", "logloss"),
            ("multi_error", "binary", "error"),
            ("logloss", "binary", "logloss"),
            ("pinball:0.3", "squared", "pinball:0.3"),
        ] {
            assert_eq!(suited(metric, objective), Ok(want.to_owned()), "{metric}, {objective}");
        }
    }

    #[test]
    fn metrics_that_do_not_suit_the_predictions_are_rejected() {
        let error = suited("auc", "multiclass:3").expect_err("three classes").to_string();
        assert!(error.starts_with("metric `auc` takes one prediction per row, but objective `multiclass:3` makes 3"));
        let error = suited("merror", "squared").expect_err("a regression").to_string();
        assert_eq!(error, "metric `merror` compares classes, but the objective is `squared`; use `rmse`");
    }
}
