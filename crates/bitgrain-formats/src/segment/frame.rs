//! `FrameHead`: what is said of one frame of a temporal tensor.

use bitgrain_codec::{BitWidth, BlockLen};

use super::{Accuracy, SegmentError};

/// What a frame's codes mean. Frames are named by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Codes of the values, with scales of its own.
    Key,
    /// Codes of the values, for the scales of frame `key`.
    Shared {
        /// The frame that has the scales.
        key: u64,
    },
    /// Codes of the difference to the decoded frame `base`, with scales of its own.
    DifferenceKey {
        /// The frame it is the difference to.
        base: u64,
    },
    /// Codes of the difference to the decoded frame `base`, for the scales of frame `key`.
    DifferenceShared {
        /// The frame that has the scales.
        key: u64,
        /// The frame it is the difference to.
        base: u64,
    },
}

/// How the scales of a frame are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// Two bytes.
    F16,
    /// Four bytes.
    F32,
}

/// One frame without its codes. The body is the scales, if it has its own, then the codes of each block, packed as blocks
/// pack them.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameHead {
    /// Its place among the frames of the tensor, from 0.
    pub index: u64,
    /// What the codes mean.
    pub role: Role,
    /// Lengths of the axes: the same for every frame of a tensor.
    pub shape: Vec<usize>,
    /// Tier that was asked for, 0 (lossless) to 5 (absent).
    pub tier: u8,
    /// Width of the codes.
    pub width: BitWidth,
    /// Values that share a scale.
    pub block: BlockLen,
    /// How scales are stored: its own, or those of its key.
    pub scales: ScaleType,
    /// How far values can be from those that were appended.
    pub accuracy: Accuracy,
    /// The time the frame is of, as whoever appended it says.
    pub time: u64,
}

impl Role {
    /// True if the frame has scales of its own.
    #[must_use]
    pub const fn has_scales(self) -> bool {
        matches!(self, Self::Key | Self::DifferenceKey { .. })
    }

    /// The frame whose scales it uses, if not its own.
    #[must_use]
    pub const fn key(self) -> Option<u64> {
        match self {
            Self::Key | Self::DifferenceKey { .. } => None,
            Self::Shared { key } | Self::DifferenceShared { key, .. } => Some(key),
        }
    }

    /// The frame it is the difference to.
    #[must_use]
    pub const fn base(self) -> Option<u64> {
        match self {
            Self::Key | Self::Shared { .. } => None,
            Self::DifferenceKey { base } | Self::DifferenceShared { base, .. } => Some(base),
        }
    }
}

impl ScaleType {
    /// Bytes of a scale.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

impl FrameHead {
    /// Bytes of the scales at the beginning of the body: 0 if it has none of its own.
    #[must_use]
    pub fn scales_len(&self) -> usize {
        todo!()
    }

    /// Bytes of the body; `usize::MAX` if so many values do not fit in memory.
    #[must_use]
    pub fn body_len(&self) -> usize {
        todo!()
    }
}
