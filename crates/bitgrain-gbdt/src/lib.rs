//! Gradient-boosted trees on quantized numbers.
//!
//! | module | contents |
//! |---|---|
//! | `table` | reads tables from CSV and libsvm files (feature `csv`) and from Parquet files (features `parquet`, and `table` with zstd) |
//! | [`feature`] | bins raw columns: cuts, binning rules, four matrix layouts |
//! | [`gradient`] | gradients in f32, or quantized to pairs of 8 or 4 bits |
//! | [`objective`] | loss functions |
//! | [`metric`] | evaluation metrics |
//! | [`parameter`] | hyperparameters: names, aliases, ranges, defaults |
//! | [`train`] | grows trees |
//! | [`model`] | trained trees, the model file, import of LightGBM and XGBoost models |
//! | [`predict`] | prediction |
//! | [`explain`] | SHAP values, interactions, partial dependence |
//! | [`report`] | HTML report of a training |
//!
//! The most common types are re-exported at the root:
//!
//! ```
//! use bitgrain_gbdt::{Dataset, Features, Params, Predictor, Quantizer, Trainer};
//! let features = Features::row_major(&[1.0_f32, 2.0, 3.0, 4.0][..], 4, 1)?;
//! let mut data = Dataset::new(&features, vec![0.0_f32, 0.0, 8.0, 8.0], None, &Quantizer::default())?;
//! let params = Params { min_child_samples: 1, ..Params::default() };
//! let model = Trainer::new(params, data.objective(None)?).train(&mut data)?.model;
//! assert!((Predictor::new(&model)?.predict(&features)?[3] - 8.0).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Work runs on the current rayon thread pool. Results do not depend on the number of threads.

// Binned tables belong to `table` and train on mapped records by parts of `train` that nothing else calls.
#![cfg_attr(not(feature = "csv"), expect(dead_code, reason = "only the feature `csv` has binned tables"))]

pub mod distributed;
pub mod explain;
pub mod feature;
pub mod gradient;
mod groups;
mod math;
pub mod metric;
pub mod model;
mod narrow;
pub mod objective;
pub mod parameter;
pub mod predict;
mod random;
pub mod report;
mod samples;
#[cfg(feature = "csv")]
pub mod table;
pub mod train;

pub use feature::{Features, Quantizer, Schema};
pub use groups::{GroupError, Groups};
pub use metric::Metric;
pub use model::Model;
pub use objective::Objective;
pub use predict::Predictor;
pub use samples::SampleError;
#[cfg(feature = "csv")]
pub use table::{ColumnRoles, Table, TrainingTable};
pub use train::{Dataset, Params, TrainError, Trainer, Training};
