//! `Metric`: trait of evaluation metrics.

use std::fmt;

use super::{ErrorRate, Logloss, MetricError, MetricInput, MultiLogloss, PoissonDeviance, Rmse};
use crate::model::Link;
use crate::objective::Objective;
use crate::parameter::Params;

/// Evaluation metric. Built-in metrics are created by name; implement this trait for custom ones.
pub trait Metric: Send + Sync {
    /// Name with parameters: `auc`, `pinball:0.9`.
    fn name(&self) -> String;

    /// Returns whether larger values are better.
    fn higher_is_better(&self) -> bool;

    /// Returns whether the metric needs the queries of the rows.
    fn needs_groups(&self) -> bool {
        false
    }

    /// Takes the parameters of a training before its first round.
    fn prepare(&mut self, _params: &Params) {}

    /// Evaluates predictions.
    ///
    /// # Errors
    /// Returns a [`MetricError`] if the metric is undefined for them.
    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError>;
}

impl fmt::Debug for dyn Metric + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metric({})", self.name())
    }
}

/// Returns the default metric of an objective: the loss itself, or a metric with the same minimum.
///
/// ```
/// use bitgrain_gbdt::{metric, objective};
/// let quantile = objective::by_name("quantile:0.3")?;
/// assert_eq!(metric::default_for(&*quantile).name(), "pinball:0.3");
/// # Ok::<(), objective::ObjectiveError>(())
/// ```
#[must_use]
pub fn default_for(objective: &dyn Objective) -> Box<dyn Metric> {
    objective.metric()
}

/// Returns the default metric for predictions of a link function.
pub(crate) fn default_for_link(link: Link) -> Box<dyn Metric> {
    match link {
        Link::Identity | Link::Softplus | Link::SignedSquare => Box::new(Rmse),
        Link::Step => Box::new(ErrorRate),
        Link::Logistic { .. } => Box::new(Logloss),
        Link::Softmax => Box::new(MultiLogloss),
        Link::Exponential => Box::new(PoissonDeviance),
    }
}
