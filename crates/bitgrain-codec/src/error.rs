//! Errors of the codec.

use bitgrain_kernels::KernelError;

/// Reason why values, bytes or settings were rejected.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecErr {
    /// The output slice is too short.
    #[error("output too small: it needs at least {required} elements")]
    OutputTooSmall {
        /// Required length in elements.
        required: usize,
    },
    /// The input slice is too short.
    #[error("input too small: it needs at least {required} elements")]
    InputTooSmall {
        /// Required length in elements.
        required: usize,
    },
    /// Unsupported width of signed codes.
    #[error("unsupported bit width {bits}; use 2 to 8")]
    InvalidBitWidth {
        /// Requested width.
        bits: u8,
    },
    /// A block size that is zero, too large or not a multiple of eight.
    #[error("invalid block size {block_size}; use a multiple of 8 from 8 to {}", bitgrain_kernels::BlockLen::MAX)]
    InvalidBlockSize {
        /// Requested block size.
        block_size: usize,
    },
    /// A code that does not fit the width, in codes to pack or in bytes to decode.
    #[error("code {code} at index {index} (0-based) is out of range for its bit width")]
    CodeOutOfRange {
        /// Index of the first such code.
        index: usize,
        /// The code.
        code: i32,
    },
    /// A NaN or an infinity while the policy is to reject them.
    #[error("value at index {index} (0-based) is not finite; choose a non-finite policy other than reject")]
    NonFinite {
        /// Index of the first such value.
        index: usize,
    },
    /// A stored scale that is negative, not finite, or decodes to an infinity.
    #[error("invalid scale of the block that starts at index {index} (0-based): negative, not finite or too large")]
    InvalidScale {
        /// Index of the block's first value.
        index: usize,
    },
    /// A row length that is not a multiple of the block length.
    #[error("row length {len} is not a multiple of the block length {block}")]
    RaggedBlocks {
        /// Row length.
        len: usize,
        /// Block length.
        block: usize,
    },
    /// Two-level settings outside their range.
    #[error(
        "invalid two-level settings: threshold {threshold} must be at least 1 and outlier fraction {outlier_fraction} in 0..=1"
    )]
    InvalidTwoLevel {
        /// Requested threshold.
        threshold: f32,
        /// Requested outlier fraction.
        outlier_fraction: f32,
    },
    /// A drift tolerance outside its range.
    #[error("invalid drift {share}; it must be at least 0 and below 1")]
    InvalidDrift {
        /// Requested share.
        share: f32,
    },
    /// A range that is reversed or exceeds the tensor.
    #[error("range {start}..{end} is out of bounds for a tensor of {count} values")]
    InvalidRange {
        /// Start of the range.
        start: usize,
        /// End of the range, exclusive.
        end: usize,
        /// Number of values in the tensor.
        count: usize,
    },
    /// Unknown name of a weight format.
    #[error(
        "unknown weight format; expected one of the 21 dtypes (int8, fp8_e4m3, ternary, ...), a llama.cpp block format (q4_0, q4_k, ...) or q4f32"
    )]
    UnknownFormat,
    /// Unknown name of a calibration method.
    #[error("unknown calibration; expected absmax, percentile, percentile=99.5, mse or hqq")]
    UnknownCalibration,
    /// A scaling for a format without scales.
    #[error("{dtype} weights have no scales; omit the scaling")]
    InvalidScaling {
        /// The format.
        dtype: crate::weight::DType,
    },
    /// A percentile outside its range.
    #[error("invalid percentile {percent}; it must be above 0 and at most 100")]
    InvalidPercentile {
        /// Requested percentile.
        percent: f32,
    },
    /// A format that can be decoded only.
    #[error(
        "{format} can be read but not written; use iq2_xs, iq3_s, iq4_xs or a format of `bitgrain quantize --help`"
    )]
    DecodeOnly {
        /// Name of the format.
        format: &'static str,
    },
    /// A format that cannot be quantized without an importance per column.
    #[error("{format} requires an importance per column; add an importance matrix")]
    MissingImportance {
        /// Name of the format.
        format: &'static str,
    },
    /// Two slices that must have the same length.
    #[error("length mismatch: cannot compare slices of {left} and {right} values")]
    LengthMismatch {
        /// Length of the first slice.
        left: usize,
        /// Length of the second slice.
        right: usize,
    },
}

impl CodecErr {
    /// Adds `start` to the index of the error: converts an index within a part to one in the tensor.
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
            KernelError::DecodeOnly { format } => Self::DecodeOnly { format },
            KernelError::MissingImportance { format } => Self::MissingImportance { format },
            other => unreachable!("the kernels called here do not return {other:?}"),
        }
    }
}
