//! Gradient-boosted trees on quantized numbers.
//!
//! | module | what it does |
//! |---|---|
//! | `table` | tables from files: Parquet, CSV, libsvm (feature `table`) |
//! | [`feature`] | from raw columns to matrices of bins: cuts, the rule of the bins, four layouts |
//! | [`gradient`] | gradients in f32, or as pairs of 8 or 4 bits |
//! | [`objective`] | what is minimised |
//! | [`metric`] | how good predictions are |
//! | [`train`] | growing trees |
//! | [`model`] | what was grown: trees, their file, models of other libraries |
//! | [`predict`] | from rows to predictions |
//!
//! Threads are those of the rayon pool it is called in. Results do not depend on how many there are.

pub mod feature;
pub mod gradient;
pub mod metric;
pub mod model;
pub mod objective;
pub mod predict;
#[cfg(feature = "table")]
pub mod table;
pub mod train;
