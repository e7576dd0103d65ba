//! How good predictions are.

/// A measure of predictions. Built-in ones are made by name; implement this for one of your own.
pub trait Metric: Send + Sync {
    /// Name with parameters: `auc`, `pinball:0.9`.
    fn name(&self) -> String;

    /// Whether more is better.
    fn higher_is_better(&self) -> bool;

    /// The measure of some predictions.
    ///
    /// # Errors
    /// [`MetricError`] if it is not defined for them.
    fn evaluate(&self, data: &Evaluated<'_>) -> Result<f64, MetricError>;
}

/// Predictions beside the truth.
#[derive(Debug, Clone, Copy)]
pub struct Evaluated<'a> {
    /// The target of each row.
    pub targets: &'a [f32],
    /// The weight of each row.
    pub weights: Option<&'a [f32]>,
    /// Predictions (after the link), group after group: all rows of the first class, then all of the second.
    pub predictions: &'a [f64],
}

/// Why a metric has no value.
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
}
