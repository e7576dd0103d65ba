//! `Metric`: a measure of predictions.

use std::fmt;

use super::{Logloss, MetricError, MetricInput, MultiLogloss, PoissonDeviance, Rmse, WrongShare};
use crate::model::Link;
use crate::objective::Objective;

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
    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError>;
}

impl fmt::Debug for dyn Metric + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metric({})", self.name())
    }
}

/// What to watch while an objective is minimised: the loss itself, or a measure that has its minimum at the same place.
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

/// What suits predictions of a link.
pub(crate) fn default_for_link(link: Link) -> Box<dyn Metric> {
    match link {
        Link::Identity | Link::Softplus | Link::SignedSquare => Box::new(Rmse),
        Link::Step => Box::new(WrongShare),
        Link::Logistic { .. } => Box::new(Logloss),
        Link::Softmax => Box::new(MultiLogloss),
        Link::Exponential => Box::new(PoissonDeviance),
    }
}
