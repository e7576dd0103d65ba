//! Errors of kernel arguments.

use core::fmt;

/// Reason why a kernel rejected its arguments. Slices are never accessed out of bounds; the contents of the output are
/// unspecified after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// The output slice is too short.
    OutputTooSmall {
        /// Required length in elements.
        required: usize,
    },
    /// The input slice is too short.
    InputTooSmall {
        /// Required length in elements.
        required: usize,
    },
    /// Unsupported width of the code type.
    InvalidBitWidth {
        /// Requested width.
        bits: u8,
    },
    /// A block length that is zero, not a multiple of eight, or above [`BlockLen::MAX`](crate::BlockLen::MAX).
    InvalidBlockLen {
        /// Requested length.
        len: usize,
    },
    /// A code that does not fit the width, in the input or in packed bytes.
    CodeOutOfRange {
        /// Index of the first such code.
        index: usize,
        /// The code.
        code: i32,
    },
    /// A NaN or an infinity where only finite values can be encoded.
    NonFinite {
        /// Index of the first such value.
        index: usize,
    },
    /// A stored scale that is negative, not finite, or decodes to an infinity.
    InvalidScale {
        /// Index of the block's first value.
        index: usize,
    },
    /// A row length that is not a multiple of the block length, or values that do not fill complete rows.
    RaggedBlocks {
        /// Row length in weights.
        len: usize,
        /// Block length in weights.
        block: usize,
    },
    /// More cuts than the code type can represent.
    TooManyCuts {
        /// Number of cuts.
        cuts: usize,
        /// Maximum number of cuts.
        max: usize,
    },
    /// A tree step that refers to a result slot out of range.
    UnknownSlot {
        /// Index of the first such step.
        step: usize,
        /// Number of result slots.
        slots: usize,
    },
    /// A cut that is NaN or not above the previous one.
    UnsortedCuts {
        /// Index of the first such cut.
        index: usize,
    },
    /// Unsupported number of slots per row.
    SlotCount {
        /// Slots per row.
        slots: usize,
    },
    /// A format that can be decoded only.
    DecodeOnly {
        /// Name of the format.
        format: &'static str,
    },
    /// A format that cannot be quantized without an importance per column.
    MissingImportance {
        /// Name of the format.
        format: &'static str,
    },
    /// A byte count that does not match the number of rows.
    RowCount {
        /// Number of bytes given.
        bytes: usize,
        /// Number of bytes expected.
        expected: usize,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutputTooSmall { required } => write!(f, "output too small: it needs at least {required} elements"),
            Self::InputTooSmall { required } => write!(f, "input too small: it needs at least {required} elements"),
            Self::InvalidBitWidth { bits } => write!(f, "unsupported bit width {bits}"),
            Self::InvalidBlockLen { len } => {
                write!(f, "invalid block length {len}; use a multiple of 8 from 8 to {}", crate::BlockLen::MAX)
            }
            Self::CodeOutOfRange { index, code } => write!(f, "code {code} at index {index} (0-based) is out of range"),
            Self::NonFinite { index } => write!(f, "value at index {index} (0-based) is not finite"),
            Self::InvalidScale { index } => {
                write!(f, "invalid scale of the block that starts at index {index} (0-based)")
            }
            Self::RaggedBlocks { len, block } => {
                write!(f, "row length {len} is not a multiple of the block length {block}")
            }
            Self::TooManyCuts { cuts, max } => write!(f, "too many cuts for the code type: {cuts}, at most {max}"),
            Self::UnknownSlot { step, slots } => {
                write!(f, "step {step} (0-based) refers to a result outside 0..{slots}")
            }
            Self::UnsortedCuts { index } => write!(f, "cut at index {index} (0-based) is not above the previous one"),
            Self::SlotCount { slots } => {
                write!(
                    f,
                    "invalid number of slots {slots}; use a multiple of 4 from 4 to {}",
                    crate::histogram::MAX_SLOTS
                )
            }
            Self::DecodeOnly { format } => write!(f, "{format} can be read and not written"),
            Self::MissingImportance { format } => write!(f, "{format} requires an importance per column"),
            Self::RowCount { bytes, expected } => write!(f, "wrong size of rows: {bytes} bytes instead of {expected}"),
        }
    }
}

impl core::error::Error for KernelError {}
