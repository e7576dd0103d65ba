//! From raw columns to matrices of bins.
//!
//! A [`Quantizer`] finds the cuts of every feature, [`BinCuts`] put values into the bins between them, and a
//! [`QuantizedMatrix`] holds the bins of all rows in the layout that suits what comes next.
//!
//! ```
//! use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
//! // Three rows of two features, row after row.
//! let features = Features::row_major(&[1.0_f32, 5.0, 2.0, f32::NAN, 4.0, 6.0][..], 3, 2)?;
//! let cuts = Quantizer::default().compute_cuts(&features, None)?;
//! assert_eq!(cuts.cuts(0), [1.5, 3.0]); // midway between neighbours
//! assert_eq!(cuts.map().missing_bin(1), Some(2)); // behind the bins of 5 and 6
//! let matrix = cuts.quantize(&features, BinLayout::Columns)?;
//! assert_eq!((matrix.bin(2, 0), matrix.bin(1, 1)), (2, 2));
//! assert_eq!(matrix.bytes(), 4); // two columns of three bins, two bins to a byte
//! # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
//! ```
//!
//! # The rule of the bins
//!
//! - The bin of a value is the number of cuts below it: the first `i` with `value <= cut[i]`, or the last bin of values.
//!   So a split `bin <= i` is the split `value <= cut[i]`, and a raw value goes where its bin went in training.
//! - Values are f32. An f64 is rounded to the nearest f32 first, in training as in prediction; what rounds to the same
//!   f32 is the same value, and what is too large becomes an infinity.
//! - -0 and +0 are equal. Infinities are values: they lie in the first and in the last bin of values.
//! - NaN is missing, and goes to the last bin of its feature. That bin holds nothing else if the feature missed values
//!   in training. If it did not, the last bin is that of the largest values, where NaN also ends when it is compared
//!   with cuts: it is below none of them.
//! - The values of a categorical feature are codes, whole numbers from 0 to 2^24 - 1. Each category that training saw has
//!   a bin, in the order of the codes; where there are more than fit, the most frequent have. The last bin is always
//!   there, for all that has no other: what is missing, never seen, seen too rarely, or no code.
//! - What a sparse matrix does not hold is zero, and binned as any zero, unless it was said to be missing.

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
mod sorted;
mod source;
mod sparse;
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
pub(crate) use source::BinSource;
pub use sparse::Absent;
