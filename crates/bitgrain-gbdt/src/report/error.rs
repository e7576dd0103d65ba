//! Errors of reports.

use crate::SampleError;
use crate::feature::FeatureError;
use crate::metric::MetricError;
use crate::predict::PredictError;

/// Reason why a report cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// An invalid model, or rows that do not match it.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Invalid features.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// Invalid targets or weights.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Targets that the model's metric does not accept.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A number of targets other than the number of rows.
    #[error("{targets} targets for {rows} rows; pass one target per row")]
    TargetCount {
        /// Number of targets.
        targets: usize,
        /// Number of rows.
        rows: usize,
    },
}
