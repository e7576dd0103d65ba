//! What can be wrong with values, bytes or settings; every number a caller needs is in a field.

use bitgrain_kernels::KernelError;

/// Why something could not be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecErr {
    /// The output cannot hold the result.
    #[error("output too small, {required} elements are required")]
    OutputTooSmall {
        /// Elements the output must hold.
        required: usize,
    },
    /// The input is shorter than what was asked of it.
    #[error("input too small, {required} elements are required")]
    InputTooSmall {
        /// Elements the input must hold.
        required: usize,
    },
    /// A bit width that signed codes cannot have.
    #[error("a width of {bits} bits is not supported, signed codes have 2 to 8")]
    InvalidBitWidth {
        /// The width that was asked for.
        bits: u8,
    },
    /// A block size that is zero, not a multiple of eight, or too large.
    #[error("a block size of {block_size} is not a multiple of 8 from 8 to {}", bitgrain_kernels::BlockLen::MAX)]
    InvalidBlockSize {
        /// The size that was asked for.
        block_size: usize,
    },
    /// A code that the width cannot hold, in codes to pack or in bytes to decode.
    #[error("code {code} at index {index} is out of range")]
    CodeOutOfRange {
        /// Position of the first such code.
        index: usize,
        /// The code as found.
        code: i32,
    },
    /// A NaN or an infinity, and the policy is to refuse them.
    #[error("value at index {index} is not finite; choose a non-finite policy other than reject to encode it")]
    NonFinite {
        /// Position of the first such value.
        index: usize,
    },
    /// A block whose stored scale is negative, not finite, or would decode to an infinity.
    #[error("scale of the block at index {index} is not a usable scale")]
    InvalidScale {
        /// Position of the first value of that block.
        index: usize,
    },
    /// A row that is not a whole number of blocks.
    #[error("rows of {len} weights are not whole blocks of {block}")]
    RaggedBlocks {
        /// Weights of the row.
        len: usize,
        /// Weights of a block.
        block: usize,
    },
    /// Two-level settings outside their range.
    #[error(
        "two-level needs a threshold of at least 1 and an outlier fraction from 0 to 1, not {threshold} and {outlier_fraction}"
    )]
    InvalidTwoLevel {
        /// The threshold that was asked for.
        threshold: f32,
        /// The outlier fraction that was asked for.
        outlier_fraction: f32,
    },
    /// A drift tolerance outside its range.
    #[error("a drift of {share} is not at least 0 and below 1")]
    InvalidDrift {
        /// The share that was asked for.
        share: f32,
    },
    /// A range that runs backwards or ends behind the tensor.
    #[error("the range {start}..{end} does not lie in a tensor of {count} values")]
    InvalidRange {
        /// Where it starts.
        start: usize,
        /// Where it ends.
        end: usize,
        /// Values of the tensor.
        count: usize,
    },
    /// A name that no weight format has.
    #[error(
        "not a weight format; there are the 21 dtypes (int8, fp8_e4m3, ternary, ...), llama.cpp's blocks (q4_0, q4_k, ...) and q4f32"
    )]
    UnknownFormat,
    /// A name that no calibration has.
    #[error("not a calibration; choose absmax, percentile, percentile=99.5, mse or hqq")]
    UnknownCalibration,
    /// Scales for a format that has none.
    #[error("{dtype} weights have no scales")]
    InvalidScaling {
        /// The format.
        dtype: crate::weight::DType,
    },
    /// A percentile outside its range.
    #[error("a percentile of {percent} is not above 0 and at most 100")]
    InvalidPercentile {
        /// What was asked for.
        percent: f32,
    },
    /// Two slices that must have one length.
    #[error("slices of {left} and {right} values cannot be compared")]
    LengthMismatch {
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
}

impl CodecErr {
    /// The same error with its index counted from `start` values earlier.
    #[must_use]
    pub fn shifted(self, start: usize) -> Self {
        match self {
            Self::CodeOutOfRange { index, code } => Self::CodeOutOfRange { index: index + start, code },
            Self::NonFinite { index } => Self::NonFinite { index: index + start },
            Self::InvalidScale { index } => Self::InvalidScale { index: index + start },
            other => other,
        }
    }
}

impl From<KernelError> for CodecErr {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::OutputTooSmall { required } => Self::OutputTooSmall { required },
            KernelError::InputTooSmall { required } => Self::InputTooSmall { required },
            KernelError::InvalidBitWidth { bits } => Self::InvalidBitWidth { bits },
            KernelError::InvalidBlockLen { len } => Self::InvalidBlockSize { block_size: len },
            KernelError::CodeOutOfRange { index, code } => Self::CodeOutOfRange { index, code },
            KernelError::NonFinite { index } => Self::NonFinite { index },
            KernelError::InvalidScale { index } => Self::InvalidScale { index },
            KernelError::RaggedBlocks { len, block } => Self::RaggedBlocks { len, block },
            other => unreachable!("no kernel called here returns {other:?}"),
        }
    }
}
