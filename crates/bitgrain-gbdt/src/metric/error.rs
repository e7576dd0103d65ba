//! Errors of metrics.

use crate::SampleError;

/// Reason why a metric cannot be created or is undefined. Row indices are 0-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// An unknown metric name.
    #[error("unknown metric `{name}`; known metrics: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// Names of the known metrics.
        known: String,
    },
    /// A parameter that the metric does not take, or an invalid value.
    #[error("invalid parameter `{parameter}` of metric `{metric}`; expected {takes}")]
    Parameter {
        /// Name of the metric.
        metric: &'static str,
        /// The string after the colon, or the given number.
        parameter: String,
        /// Description of valid parameters.
        takes: &'static str,
    },
    /// A metric of one prediction per row, for an objective with several.
    #[error(
        "metric `{metric}` takes one prediction per row, but objective `{objective}` makes {outputs}; use \
         `multi_logloss`, `multi_error` or a metric of your own"
    )]
    OnePrediction {
        /// Name of the metric.
        metric: String,
        /// Name of the objective.
        objective: String,
        /// Number of predictions per row.
        outputs: usize,
    },
    /// A metric of classes, for an objective without classes.
    #[error("metric `{metric}` compares classes, but the objective is `{objective}`; use `rmse`")]
    Classes {
        /// Name of the metric.
        metric: String,
        /// Name of the objective.
        objective: String,
    },
    /// No rows.
    #[error("cannot evaluate a metric on zero rows")]
    Empty,
    /// A number of predictions that does not match the rows.
    #[error("{predictions} predictions for {rows} rows; expected {outputs} per row")]
    PredictionCount {
        /// Number of predictions.
        predictions: usize,
        /// Number of rows.
        rows: usize,
        /// Expected number of predictions per row.
        outputs: usize,
    },
    /// Invalid targets or weights.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A row for which the metric is undefined.
    #[error(
        "target {target} and prediction {prediction} of row {row} (0-based) are invalid; `{metric}` expects {takes}"
    )]
    Row {
        /// Index of the first such row.
        row: usize,
        /// Target of that row.
        target: f64,
        /// Prediction of that row.
        prediction: f64,
        /// Name of the metric.
        metric: String,
        /// Description of valid rows.
        takes: &'static str,
    },
    /// A label that is not a class index.
    #[error(
        "label {label} of row {row} (0-based) is not a class index; predictions have {classes} classes, numbered from 0"
    )]
    Label {
        /// Index of the first such row.
        row: usize,
        /// Label of that row.
        label: f64,
        /// Number of predicted classes.
        classes: usize,
    },
    /// Data without queries, for a metric that ranks the rows of a query.
    #[error("missing queries: `{metric}` ranks the rows of a query; pass the group of each row")]
    NoGroups {
        /// Name of the metric.
        metric: String,
    },
    /// Queries of another number of rows.
    #[error("groups of {grouped} rows for {rows} rows; pass the group of each row")]
    GroupRows {
        /// Number of rows of the groups.
        grouped: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A class without rows, for a metric that compares all classes.
    #[error("`{metric}` needs rows of every class; no row of class {class} has a weight above 0")]
    MissingClass {
        /// Name of the metric.
        metric: &'static str,
        /// First class without rows.
        class: usize,
    },
    /// Survival times without a pair that can be compared.
    #[error("`{metric}` needs an event and a later time; all rows are censored or have the same time")]
    NoPairs {
        /// Name of the metric.
        metric: &'static str,
    },
    /// Rows of one class only, for a metric that compares two.
    #[error("`{metric}` needs rows of classes 0 and 1; no row of class {missing} has a weight above 0")]
    OneClass {
        /// Name of the metric.
        metric: &'static str,
        /// Class without rows.
        missing: u8,
    },
}
