//! What can be wrong with a kernel's arguments; every number a caller needs is in a field.

use core::fmt;

/// Why a kernel refused its arguments. Nothing was read or written past the slices given; the contents of the
/// output are unspecified after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// The output slice cannot hold the result.
    OutputTooSmall {
        /// Elements the output must hold.
        required: usize,
    },
    /// The input slice holds less than the output asks for.
    InputTooSmall {
        /// Elements the input must hold.
        required: usize,
    },
    /// The bit width is outside what the code type allows.
    InvalidBitWidth {
        /// The width that was asked for.
        bits: u8,
    },
    /// A block length that is zero, not a multiple of eight, or beyond [`BlockLen::MAX`](crate::BlockLen::MAX).
    InvalidBlockLen {
        /// The length that was asked for.
        len: usize,
    },
    /// A code that the width cannot hold, on the way in or on the way out.
    CodeOutOfRange {
        /// Position of the first such code.
        index: usize,
        /// The code as found.
        code: i32,
    },
    /// A NaN or an infinity where only finite values can be encoded.
    NonFinite {
        /// Position of the first such value.
        index: usize,
    },
    /// A block whose stored scale is negative, not finite, or would decode to an infinity.
    InvalidScale {
        /// Position of the first value of that block.
        index: usize,
    },
    /// A row that is not a whole number of blocks, or values that are not whole rows.
    RaggedBlocks {
        /// Weights of the row.
        len: usize,
        /// Weights of a block.
        block: usize,
    },
    /// More cuts than the code type has bins for.
    TooManyCuts {
        /// Cuts there are.
        cuts: usize,
        /// Cuts there may be.
        max: usize,
    },
    /// A step of a tree that keeps or takes a result where there is no place for one.
    UnknownPlace {
        /// Position of the first such step.
        step: usize,
        /// Places there are.
        places: usize,
    },
    /// A cut that is NaN or not above the one before.
    UnsortedCuts {
        /// Position of the first such cut.
        index: usize,
    },
    /// Rows of a number of slots that there is no loop for.
    SlotCount {
        /// Slots of a row.
        slots: usize,
    },
    /// Bytes that are not one row for each pair or bit.
    RowCount {
        /// Bytes there are.
        bytes: usize,
        /// Bytes there should be.
        expected: usize,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutputTooSmall { required } => write!(f, "output too small, {required} elements are required"),
            Self::InputTooSmall { required } => write!(f, "input too small, {required} elements are required"),
            Self::InvalidBitWidth { bits } => write!(f, "a width of {bits} bits is not supported"),
            Self::InvalidBlockLen { len } => {
                write!(f, "a block length of {len} is not a multiple of 8 from 8 to {}", crate::BlockLen::MAX)
            }
            Self::CodeOutOfRange { index, code } => write!(f, "code {code} at index {index} is out of range"),
            Self::NonFinite { index } => write!(f, "value at index {index} is not finite"),
            Self::InvalidScale { index } => write!(f, "scale of the block at index {index} is not a usable scale"),
            Self::RaggedBlocks { len, block } => write!(f, "rows of {len} weights are not whole blocks of {block}"),
            Self::TooManyCuts { cuts, max } => write!(f, "{cuts} cuts are too many for the codes, which count {max}"),
            Self::UnknownPlace { step, places } => write!(f, "step {step} names a result beyond the {places} places"),
            Self::UnsortedCuts { index } => write!(f, "cut at index {index} is not above the one before"),
            Self::SlotCount { slots } => {
                write!(f, "{slots} slots are not a multiple of 4 from 4 to {}", crate::histogram::MAX_SLOTS)
            }
            Self::RowCount { bytes, expected } => write!(f, "rows of {expected} bytes in all were given {bytes}"),
        }
    }
}

impl core::error::Error for KernelError {}
