//! Why a metric has no value; every number a caller needs is in a field.

use crate::SampleError;

/// Why a metric cannot be made or has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// A name that is none of ours.
    #[error("there is no metric {name}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A parameter that the metric does not take, or does not take like this.
    #[error("{metric} with parameter {parameter}: it takes {takes}")]
    Parameter {
        /// The metric.
        metric: &'static str,
        /// The text behind the colon, or the number given.
        parameter: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A metric of single predictions, for an objective that makes several per row.
    #[error(
        "metric `{metric}` takes one prediction per row, but objective `{objective}` makes {outputs}; use \
         `multi_logloss`, `multi_error` or a metric of your own"
    )]
    OnePrediction {
        /// The metric.
        metric: String,
        /// The objective.
        objective: String,
        /// Predictions per row.
        outputs: usize,
    },
    /// A metric of classes, for an objective without any.
    #[error("metric `{metric}` compares classes, but the objective is `{objective}`; use `rmse`")]
    Classes {
        /// The metric.
        metric: String,
        /// The objective.
        objective: String,
    },
    /// Nothing to measure.
    #[error("no rows have no metric")]
    Empty,
    /// Predictions that are not those of the rows.
    #[error("{predictions} predictions are not {outputs} for each of {rows} rows")]
    PredictionCount {
        /// Predictions there are.
        predictions: usize,
        /// Rows there are.
        rows: usize,
        /// Predictions there should be for each row.
        outputs: usize,
    },
    /// Targets or weights that cannot be used.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A row the metric is not defined for.
    #[error("target {target} and prediction {prediction} of row {row}: {metric} takes {takes}")]
    Row {
        /// The first such row.
        row: usize,
        /// Its target.
        target: f64,
        /// Its prediction.
        prediction: f64,
        /// The metric.
        metric: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A label that is none of the classes predicted.
    #[error("label {label} of row {row} is none of the {classes} classes predicted, which are numbered from 0 on")]
    Label {
        /// The first such row.
        row: usize,
        /// Its label.
        label: f64,
        /// Classes there are.
        classes: usize,
    },
    /// Rows of one class where both are compared.
    #[error("{metric} compares classes 0 and 1, but no row of class {missing} has a weight")]
    OneClass {
        /// The metric.
        metric: &'static str,
        /// The class without rows.
        missing: u8,
    },
}
