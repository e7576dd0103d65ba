//! Errors of weight matrices: quantizing, reading and multiplying them.

use bitgrain_codec::CodecErr;
use bitgrain_kernels::KernelError;

/// Reason why weights could not be quantized, read or multiplied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// An error of the codec.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// A weight that overflows to infinity in a format.
    #[error("weight {index} (0-based) overflows {format}: it would become infinite")]
    Overflow {
        /// Name of the format.
        format: String,
        /// 0-based index of the first such weight.
        index: usize,
    },
    /// A slice whose length does not match its matrix.
    #[error("{what} has {found} values, expected {rows} rows of {cols}")]
    Length {
        /// Name of the operand.
        what: &'static str,
        /// Length of the slice.
        found: usize,
        /// Expected number of rows.
        rows: usize,
        /// Expected number of columns.
        cols: usize,
    },
    /// A format for which the caller cannot choose scales.
    #[error("cannot set the scales of {format}: {reason}; use a signed dtype such as int8 or int4")]
    NoScales {
        /// Name of the format.
        format: String,
        /// Reason.
        reason: &'static str,
    },
    /// Matrices whose inner dimensions differ.
    #[error("cannot multiply a matrix of {left} columns with one of {right} rows")]
    Inner {
        /// Columns of the left matrix.
        left: usize,
        /// Rows of the right matrix.
        right: usize,
    },
    /// A NaN or an infinity among the activations.
    #[error("activation in row {row}, column {column} (0-based) is not finite")]
    NonFinite {
        /// 0-based row of the batch.
        row: usize,
        /// 0-based column.
        column: usize,
    },
    /// A row out of range.
    #[error("row {row} (0-based) is out of range for a matrix of {rows} rows")]
    NoRow {
        /// Requested row.
        row: usize,
        /// Number of rows.
        rows: usize,
    },
}

impl From<KernelError> for WeightsError {
    fn from(error: KernelError) -> Self {
        Self::Codec(error.into())
    }
}
