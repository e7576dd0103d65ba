//! Errors of feature matrices, cuts and binning.

use crate::SampleError;

/// Reason why features cannot be quantized.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A matrix without rows or without features.
    #[error("empty matrix: {rows} rows, {features} features")]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of features.
        features: usize,
    },
    /// A number of values that does not match the shape.
    #[error("{values} values do not match a shape of {rows} rows and {features} features")]
    ShapeMismatch {
        /// Number of values.
        values: usize,
        /// Number of rows of the shape.
        rows: usize,
        /// Number of features of the shape.
        features: usize,
    },
    /// A number of names other than the number of features.
    #[error("{names} feature names for {features} features; pass one name per feature")]
    NameCount {
        /// Number of names.
        names: usize,
        /// Number of features.
        features: usize,
    },
    /// Two features with the same name.
    #[error("two features are named `{name}`")]
    DuplicateName {
        /// The duplicate name.
        name: String,
    },
    /// More bins in total than 32-bit indices can number.
    #[error("{bins} bins in total exceed the maximum of {}; reduce max_bin", u32::MAX - 1)]
    TooManyBins {
        /// Total number of bins of all features.
        bins: u64,
    },
    /// Invalid sample weights.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Cuts that are not strictly ascending, or contain NaN.
    #[error("the cuts of feature {feature} (0-based) are not strictly ascending")]
    UnsortedCuts {
        /// Index of the first such feature.
        feature: usize,
    },
    /// A matrix with another number of features than the cuts.
    #[error("expected {expected} features, found {found}")]
    FeatureCount {
        /// Number of features of the cuts.
        expected: usize,
        /// Number of features of the matrix.
        found: usize,
    },
    /// A feature index that is out of range.
    #[error("feature index {feature} (0-based) is out of range for {features} features")]
    NoSuchFeature {
        /// The requested index.
        feature: usize,
        /// Number of features.
        features: usize,
    },
    /// A value of a categorical feature that is not a category code.
    #[error(
        "value {value} of row {row}, feature {feature} (0-based) is not a category code; codes are integers \
         from 0 to 16777215"
    )]
    InvalidCategory {
        /// Index of the first such row.
        row: usize,
        /// Index of the first such feature.
        feature: usize,
        /// The invalid value.
        value: f32,
    },
    /// Sparse entries whose columns and values differ in number.
    #[error("sparse matrix has {columns} column indices for {values} values")]
    EntryCount {
        /// Number of column indices.
        columns: usize,
        /// Number of values.
        values: usize,
    },
    /// Row pointers that do not partition the entries.
    #[error(
        "sparse row {row} (0-based) spans entries {start}..{end} of {entries}; row pointers must ascend \
         from 0 to the number of entries"
    )]
    RowEntries {
        /// Index of the first such row.
        row: usize,
        /// Offset of the row's first entry.
        start: usize,
        /// Offset after the row's last entry.
        end: usize,
        /// Number of entries.
        entries: usize,
    },
    /// A sparse entry whose column is out of range.
    #[error("row {row} has an entry in column {column}, out of range for {features} features (both 0-based)")]
    ColumnRange {
        /// Index of the first such row.
        row: usize,
        /// Column index of the entry.
        column: u32,
        /// Number of features.
        features: usize,
    },
    /// Two sparse entries in the same row and column.
    #[error("row {row} has two entries in column {column} (both 0-based)")]
    DuplicateColumn {
        /// Index of the first such row.
        row: usize,
        /// Index of the duplicate column.
        column: u32,
    },
    /// More sparse rows than 32-bit indices can number.
    #[error("{rows} sparse rows exceed the maximum of {}", u32::MAX)]
    TooManyRows {
        /// Number of rows.
        rows: usize,
    },
}
