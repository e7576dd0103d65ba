//! Gradient-boosted trees on quantized numbers.
//!
//! | module | what it does |
//! |---|---|
//! | `table` | tables from files: Parquet, CSV, libsvm (feature `table`) |
//! | [`feature`] | from raw columns to matrices of bins: cuts, the rule of the bins, four layouts |
//! | [`gradient`] | gradients in f32, or as pairs of 8 or 4 bits |
//! | [`objective`] | what is minimised |
//! | [`metric`] | how good predictions are |
//! | [`parameter`] | hyper-parameters: names, aliases, ranges, defaults |
//! | [`train`] | growing trees |
//! | [`model`] | what was grown: trees, their file, models of other libraries |
//! | [`predict`] | from rows to predictions |
//!
//! The names that most programs use are also at the root:
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
//! Threads are those of the rayon pool it is called in. Results do not depend on how many there are.

pub mod feature;
pub mod gradient;
pub mod metric;
pub mod model;
mod narrow;
pub mod objective;
pub mod parameter;
pub mod predict;
mod random;
mod samples;
#[cfg(feature = "table")]
pub mod table;
pub mod train;

pub use feature::{Features, Quantizer, Schema};
pub use metric::Metric;
pub use model::Model;
pub use objective::Objective;
pub use predict::Predictor;
pub use samples::SampleError;
#[cfg(feature = "table")]
pub use table::{ColumnRoles, Table, TrainingTable};
pub use train::{Dataset, Params, TrainError, Trainer, Training};
