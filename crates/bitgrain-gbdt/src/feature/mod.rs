//! Binning of raw features.
//!
//! A [`Quantizer`] finds the cuts of every feature, [`BinCuts`] map values to bins, and a [`QuantizedMatrix`] holds the
//! bins of all rows in a layout that suits the next step.
//!
//! ```
//! use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
//! // Three rows of two features, row-major.
//! let features = Features::row_major(&[1.0_f32, 5.0, 2.0, f32::NAN, 4.0, 6.0][..], 3, 2)?;
//! let cuts = Quantizer::default().compute_cuts(&features, None)?;
//! assert_eq!(cuts.cuts(0), [1.5, 3.0]); // midway between neighbors
//! assert_eq!(cuts.map().missing_bin(1), Some(2)); // after the bins of 5 and 6
//! let matrix = cuts.quantize(&features, BinLayout::Columns)?;
//! assert_eq!((matrix.bin(2, 0), matrix.bin(1, 1)), (2, 2));
//! assert_eq!(matrix.bytes(), 4); // two columns of three bins, two bins per byte
//! # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
//! ```
//!
//! # Binning rules
//!
//! - The bin of a value is the number of cuts below it: the first `i` with `value <= cut[i]`, or the last value bin.
//!   Hence a split `bin <= i` equals the split `value <= cut[i]`, and prediction on raw values agrees with training on
//!   bins.
//! - Values are f32. An f64 is rounded to the nearest f32 first, in training and in prediction: values that round to
//!   the same f32 are equal, and values out of range become infinities. See [`Quantizer`] for features that need f64.
//! - -0 and +0 are equal. Infinities are ordinary values, in the first and the last value bin.
//! - NaN is missing and goes to the last bin of its feature. If the feature had missing values in training, this bin
//!   holds nothing else. Otherwise it is the bin of the largest values, which is also where NaN ends up in a comparison
//!   with cuts, because `NaN <= cut` is always false.
//! - Values of a categorical feature are category codes, integers from 0 to 2^24 - 1. Each category seen in training
//!   has a bin, in ascending order of the codes; if they do not all fit, the most frequent ones have. The last bin
//!   always exists and holds everything else: missing values, unseen and rare categories, and values that are not
//!   codes.
//! - Values without an entry in a sparse matrix are zeros, unless the matrix declares them missing.

mod bin_map;
mod bits;
mod block;
mod categories;
mod codes;
mod column;
mod columns;
mod csr;
mod cuts;
mod dense;
mod distinct;
mod ellpack;
mod error;
mod frequency;
mod input;
mod kind;
mod matching;
mod matrix;
mod packed;
mod precise;
mod quantile;
mod quantizer;
mod rank;
mod rows;
mod sample;
mod schema;
mod seen;
mod shared;
mod sorted;
mod source;
mod sparse;
mod stored;
mod stream;
mod tile;
mod transpose;
mod weights;

pub use bin_map::BinMap;
pub use bits::BinBits;
pub use codes::Codes;
pub use column::{BinColumn, FeatureStorageInfo};
pub use columns::BinColumns;
pub use csr::Csr;
pub use cuts::BinCuts;
pub use dense::Values;
pub use ellpack::Ellpack;
pub use error::FeatureError;
pub use input::Features;
pub use kind::FeatureKind;
pub use matching::ColumnMismatch;
pub use matrix::{BinLayout, BinStorage, QuantizedMatrix};
pub use quantizer::Quantizer;
pub use rows::BinRows;
pub use schema::Schema;

pub(crate) use shared::{SharedCuts, shared_cuts};
pub(crate) use source::{BinEntries, BinSource};
pub use sparse::Absent;
pub(crate) use sparse::ByFeature;
#[cfg(feature = "csv")]
pub(crate) use stored::{cuts_of, stored_features};
#[cfg(feature = "csv")]
pub(crate) use stream::{CutStream, StreamColumn, StreamKind, Streamed};
