//! What can be wrong with features, weights or settings; every number a caller needs is in a field.

/// Why features could not be quantized.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// Nothing to learn from.
    #[error("{rows} rows of {features} features hold nothing")]
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
    /// A number of bins per feature outside its range.
    #[error("{max_bin} bins per feature are not from 2 to {}", crate::feature::Quantizer::MAX_BIN)]
    InvalidMaxBin {
        /// The number that was asked for.
        max_bin: u32,
    },
    /// A sample of no rows.
    #[error("a sample of no rows has no quantiles")]
    EmptySample,
    /// More bins in all than an index of 32 bits counts.
    #[error("{bins} bins in all are more than {} can be counted", u32::MAX - 1)]
    TooManyBins {
        /// Bins of all features.
        bins: u64,
    },
    /// Not one weight per row.
    #[error("{weights} weights for {rows} rows")]
    WeightCount {
        /// Weights there are.
        weights: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A weight that is negative, infinite or NaN.
    #[error("weight {weight} of row {row} is not a finite number from 0 on")]
    InvalidWeight {
        /// The first such row.
        row: usize,
        /// Its weight.
        weight: f32,
    },
    /// Every weight is 0.
    #[error("no row has a weight above 0")]
    NoWeight,
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
}
