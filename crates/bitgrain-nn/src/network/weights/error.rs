//! What can be wrong with weights or their versions.

use bitgrain_codec::CodecErr;

/// Why a version could not be made or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The codec refused.
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
    /// A number to be multiplied with weights that is NaN or infinite.
    #[error("activation {column} of row {row} is not finite")]
    Activation {
        /// Row of the batch.
        row: usize,
        /// Column in it.
        column: usize,
    },
}
