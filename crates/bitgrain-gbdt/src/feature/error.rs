//! What can be wrong with features, weights or settings; every number a caller needs is in a field.

use crate::SampleError;

/// Why features could not be quantized.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// Nothing to learn from.
    #[error("{rows} rows of {features} features: there is nothing to learn from")]
    Empty {
        /// Rows there are.
        rows: usize,
        /// Features there are.
        features: usize,
    },
    /// Values that are not a matrix of the shape given.
    #[error("{values} values are not {rows} rows of {features} features")]
    ShapeMismatch {
        /// Values there are.
        values: usize,
        /// Rows there should be.
        rows: usize,
        /// Features there should be.
        features: usize,
    },
    /// Not one name per feature.
    #[error("{names} names for {features} features")]
    NameCount {
        /// Names there are.
        names: usize,
        /// Features there are.
        features: usize,
    },
    /// Two features of one name.
    #[error("two features are named {name}")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// More bins in all than an index of 32 bits counts.
    #[error("{bins} bins in all are more than {} can be counted", u32::MAX - 1)]
    TooManyBins {
        /// Bins of all features.
        bins: u64,
    },
    /// Weights that cannot be used.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Cuts of a feature that do not ascend, a NaN among them.
    #[error("the cuts of feature {feature} do not ascend")]
    UnsortedCuts {
        /// The first such feature.
        feature: usize,
    },
    /// Features that are not those of the cuts.
    #[error("cuts of {expected} features do not fit a matrix of {found}")]
    FeatureCount {
        /// Features of the cuts.
        expected: usize,
        /// Features of the matrix.
        found: usize,
    },
    /// A feature that is not there.
    #[error("there is no feature {feature} among {features}, which are counted from 0")]
    NoSuchFeature {
        /// The feature that was asked for.
        feature: usize,
        /// Features there are.
        features: usize,
    },
    /// A value of a categorical feature that is no code.
    #[error("value {value} of row {row}, feature {feature} is no category: codes are whole numbers from 0 to 16777215")]
    InvalidCategory {
        /// The first such row.
        row: usize,
        /// The first such feature.
        feature: usize,
        /// The value.
        value: f32,
    },
    /// Sparse entries without a column or without a value.
    #[error("{columns} columns for {values} values of a sparse matrix")]
    EntryCount {
        /// Columns there are.
        columns: usize,
        /// Values there are.
        values: usize,
    },
    /// Sparse rows that are not stretches of the entries one after another, from the first entry to the last.
    #[error(
        "row {row} from {start} to {end} does not follow the row before within {entries} entries, or leaves some over"
    )]
    RowEntries {
        /// The first such row.
        row: usize,
        /// Where its entries begin.
        start: usize,
        /// Where its entries end.
        end: usize,
        /// Entries there are.
        entries: usize,
    },
    /// A sparse entry of a feature that is not there.
    #[error("row {row} has an entry in column {column} of {features}, which are counted from 0")]
    ColumnRange {
        /// The first such row.
        row: usize,
        /// The column.
        column: u32,
        /// Features there are.
        features: usize,
    },
    /// Two sparse entries for one value.
    #[error("row {row} has two entries in column {column}")]
    DuplicateColumn {
        /// The first such row.
        row: usize,
        /// The column.
        column: u32,
    },
    /// More sparse rows than an index of 32 bits counts.
    #[error("{rows} sparse rows are more than {} can be counted", u32::MAX)]
    TooManyRows {
        /// Rows there are.
        rows: usize,
    },
}
