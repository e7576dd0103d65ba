//! Objectives: gradients and hessians of loss functions.
//!
//! [`by_name`] creates a built-in objective, [`NAMES`] lists them. Gradients and hessians match LightGBM's, so that
//! parameters tuned for LightGBM keep their meaning.
//!
//! ```
//! use bitgrain_gbdt::objective::{self, Batch, GradientBatch};
//! let poisson = objective::by_name("count:poisson")?; // XGBoost's name for it
//! assert_eq!(poisson.name(), "poisson");
//! assert!(poisson.check(&[2.0, -1.0]).is_err());
//! let (mut grads, mut hess) = ([0.0; 2], [0.0; 2]);
//! let batch = Batch { targets: &[2.0, 0.0], weights: Some(&[1.0, 3.0]), scores: &[&[0.0, 0.0]], queries: None };
//! poisson.gradients(&batch, &mut GradientBatch { grads: vec![&mut grads], hess: vec![&mut hess] });
//! assert_eq!(grads, [-1.0, 3.0]); // weight * (exp(score) - target)
//! # Ok::<(), objective::ObjectiveError>(())
//! ```
//!
//! # Custom objectives
//!
//! Any loss with a gradient can be used. This one is the logarithm of the hyperbolic cosine of the error, which is
//! quadratic near zero and linear far from it.
//!
//! ```
//! use bitgrain_gbdt::model::Link;
//! use bitgrain_gbdt::objective::{Batch, GradientBatch, Objective, ObjectiveError, check_finite};
//!
//! struct LogCosh;
//!
//! impl Objective for LogCosh {
//!     fn name(&self) -> String {
//!         "log_cosh".into()
//!     }
//!
//!     fn link(&self) -> Link {
//!         Link::Identity
//!     }
//!
//!     fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
//!         check_finite(targets, || self.name())
//!     }
//!
//!     fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
//!         vec![0.0]
//!     }
//!
//!     fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
//!         let (grads, hess) = out.single();
//!         for (row, (score, target)) in batch.single().iter().zip(batch.targets).enumerate() {
//!             let slope = (score - target).tanh();
//!             grads[row] = slope;
//!             hess[row] = 1.0 - slope * slope;
//!         }
//!         out.apply_weights(batch.weights);
//!     }
//! }
//!
//! let (mut grads, mut hess) = ([0.0; 2], [0.0; 2]);
//! let batch = Batch { targets: &[1.0, 0.0], weights: None, scores: &[&[1.0, 99.0]], queries: None };
//! LogCosh.gradients(&batch, &mut GradientBatch { grads: vec![&mut grads], hess: vec![&mut hess] });
//! assert_eq!((grads, hess), ([0.0, 1.0], [1.0, 0.0]));
//! ```

mod absolute;
mod batch;
mod binary;
mod class_weights;
mod constant;
mod cox;
#[cfg(test)]
mod cox_tests;
mod cross_entropy;
mod error;
mod expectile;
mod exponential;
mod fair;
mod focal;
mod gamma;
mod huber;
mod infer;
mod log_cosh;
mod loss;
mod mape;
mod minimum;
mod multiclass;
mod names;
mod poisson;
mod quantile;
mod ranking;
mod squared;
mod targets;
#[cfg(test)]
mod tests;
mod tweedie;

pub use absolute::Absolute;
pub use batch::{Batch, GradientBatch, QueryBatch};
pub use binary::Binary;
pub use class_weights::{ClassWeights, class_weights};
pub use cox::Cox;
pub use cross_entropy::CrossEntropy;
pub use error::ObjectiveError;
pub use expectile::Expectile;
pub use fair::Fair;
pub use focal::Focal;
pub use gamma::Gamma;
pub use huber::Huber;
pub use infer::{ObjectiveKind, TargetKind, infer, kind_of};
pub use log_cosh::LogCosh;
pub use loss::Objective;
pub use mape::Mape;
pub use multiclass::Multiclass;
pub use names::{NAMES, NameEntry, by_name};
pub use poisson::Poisson;
pub use quantile::Quantile;
pub use ranking::{LabelGain, LambdaRank, RankXendcg};
pub use squared::Squared;
pub use targets::check_finite;
pub use tweedie::Tweedie;

pub(crate) use names::found;
pub(crate) use ranking::{discounts, label_of};
pub(crate) use targets::class_of;
