//! Evaluation metrics.
//!
//! [`by_name`] creates a built-in metric, [`by_name_for`] one that fits an objective, [`for_model`] one for a model, [`NAMES`] lists them, and
//! [`default_for`] returns the default of an objective. Definitions follow scikit-learn where it has the metric.
//!
//! ```
//! use bitgrain_gbdt::metric::{self, MetricInput};
//! let data = MetricInput { targets: &[0.0, 1.0, 0.0, 1.0], weights: None, predictions: &[0.1, 0.8, 0.4, 0.3], groups: None };
//! assert_eq!(metric::by_name("auc")?.evaluate(&data)?, 0.75); // three of four pairs are in the right order
//! assert_eq!(metric::by_name("binary_error")?.evaluate(&data)?, 0.25); // LightGBM's name for it
//! # Ok::<(), metric::MetricError>(())
//! ```
//!
//! Sums are accumulated in f64, in an order that does not depend on the number of threads.
//!
//! # Custom metrics
//!
//! ```
//! use bitgrain_gbdt::metric::{MetricInput, Metric, MetricError};
//!
//! struct LargestError;
//!
//! impl Metric for LargestError {
//!     fn name(&self) -> String {
//!         "largest_error".into()
//!     }
//!
//!     fn higher_is_better(&self) -> bool {
//!         false
//!     }
//!
//!     fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
//!         data.check(1)?;
//!         let errors = data.targets.iter().zip(data.predictions).map(|(t, p)| (f64::from(*t) - p).abs());
//!         Ok(errors.fold(0.0, f64::max))
//!     }
//! }
//!
//! let data = MetricInput { targets: &[1.0, 2.0], weights: None, predictions: &[1.5, 4.0], groups: None };
//! assert_eq!(LargestError.evaluate(&data)?, 2.0);
//! # Ok::<(), MetricError>(())
//! ```

mod absolute;
mod auc;
mod auc_mu;
mod average_precision;
mod balanced_accuracy;
mod concordance;
mod cross_entropy;
mod cutoff;
mod deviance;
mod error;
mod huber;
mod input;
mod logloss;
mod mean_loss;
mod measure;
mod multi;
mod names;
mod ndcg;
mod pinball;
mod queries;
#[cfg(test)]
mod queries_tests;
mod r2;
mod ranking;
mod retrieval;
mod squared;
mod suited;
mod sum;
#[cfg(test)]
mod tests;

pub use crate::objective::NameEntry;
pub use absolute::{Mae, Mape};
pub use auc::Auc;
pub use auc_mu::AucMu;
pub use average_precision::AveragePrecision;
pub use balanced_accuracy::BalancedAccuracy;
pub use concordance::Concordance;
pub use cross_entropy::{Brier, CrossEntropy};
pub use deviance::{GammaDeviance, PoissonDeviance, TweedieDeviance};
pub use error::MetricError;
pub use huber::Huber;
pub use input::MetricInput;
pub use logloss::{ErrorRate, Logloss};
pub use measure::{Metric, default_for};
pub use multi::{MultiErrorRate, MultiLogloss};
pub use names::{NAMES, by_name};
pub use ndcg::Ndcg;
pub use pinball::Pinball;
pub use r2::R2;
pub use retrieval::{MeanAveragePrecision, MeanReciprocalRank, Precision, Recall};
pub use squared::{Mse, Rmse};
pub use suited::{by_name_for, for_model};

pub(crate) use measure::default_for_link;
pub(crate) use sum::sums;
