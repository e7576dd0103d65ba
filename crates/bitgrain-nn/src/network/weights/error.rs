//! Errors of weight matrices: quantizing, reading and multiplying them.

use bitgrain_codec::CodecErr;
use bitgrain_kernels::KernelError;

/// Why weights could not be quantized, read or multiplied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The codec refused the weights.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// Weights that a format turns into infinities.
    #[error("weight {index} is more than {format} can hold: it would become infinite")]
    Overflow {
        /// The format.
        format: String,
        /// The first such weight.
        index: usize,
    },
    /// A slice that is not the matrix it is said to be.
    #[error("{what} has {found} values, {rows} rows of {cols} take {}", rows.saturating_mul(*cols))]
    Length {
        /// Which operand.
        what: &'static str,
        /// Values there are.
        found: usize,
        /// Rows there should be.
        rows: usize,
        /// Columns there should be.
        cols: usize,
    },
    /// Matrices whose inner sides differ.
    #[error("a matrix of {left} columns cannot be multiplied with one of {right} rows")]
    Inner {
        /// Columns of the left one.
        left: usize,
        /// Rows of the right one.
        right: usize,
    },
    /// A NaN or an infinity among the activations.
    #[error("activation {column} of row {row} is not finite")]
    NonFinite {
        /// Row of the batch.
        row: usize,
        /// Column in it.
        column: usize,
    },
    /// A row that the matrix does not have.
    #[error("there is no row {row} in a matrix of {rows} rows")]
    NoRow {
        /// The row that was asked for.
        row: usize,
        /// Rows there are.
        rows: usize,
    },
}

impl From<KernelError> for WeightsError {
    fn from(error: KernelError) -> Self {
        Self::Codec(error.into())
    }
}
