//! Encoded frames: role, dependencies and bytes.

use bitgrain_codec::{BitWidth, BlockLen, ScaleType};

use crate::StoreError;

/// Meaning of a frame's codes and location of their scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameRole {
    /// Starts a run: own scales, then the codes of its values.
    Key,
    /// Codes of its values, at the key frame's scales.
    Shared,
    /// Own scales, then the codes of the difference to the decoded key frame.
    DifferenceKey,
    /// Codes of the difference to the decoded key frame, at the scales of an earlier
    /// [`DifferenceKey`](Self::DifferenceKey).
    DifferenceShared,
}

impl FrameRole {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Key, Self::Shared, Self::DifferenceKey, Self::DifferenceShared];

    /// Returns whether the body starts with scales.
    #[must_use]
    pub const fn has_scales(self) -> bool {
        matches!(self, Self::Key | Self::DifferenceKey)
    }

    /// Returns whether the codes represent a difference to the key frame.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Self::DifferenceKey | Self::DifferenceShared)
    }
}

/// Metadata of an encoded frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncodedFrameHead {
    /// Meaning of the codes.
    pub role: FrameRole,
    /// Bits per code.
    pub width: BitWidth,
    /// Values per block.
    pub block: BlockLen,
    /// Type of the scales, whether its own or shared.
    pub scale_type: ScaleType,
    /// Distance in frames to the key frame of the run; 0 for the key frame.
    pub key_back: u32,
    /// Distance in frames to the frame with its scales; 0 if it has its own, `key_back` for a shared frame.
    pub scales_back: u32,
    /// Error bound of every value.
    pub bound: f32,
    /// Largest error measured.
    pub measured: f32,
}

impl EncodedFrameHead {
    /// Returns the size in bytes of the body of a frame of `count` values.
    #[must_use]
    pub const fn body_len(&self, count: usize) -> usize {
        self.scales_len(count).saturating_add(self.width.packed_len(count))
    }

    /// Returns the size in bytes of the scales before the codes.
    #[must_use]
    pub const fn scales_len(&self, count: usize) -> usize {
        if self.role.has_scales() {
            count.div_ceil(self.block.get()).saturating_mul(self.scale_type.bytes())
        } else {
            0
        }
    }

    /// Returns the index of the key frame that frame `index` depends on: `index` itself for a key frame.
    #[must_use]
    pub const fn key_index(&self, index: u64) -> u64 {
        index.saturating_sub(self.key_back as u64)
    }

    /// Returns the index of the frame with the scales of frame `index`: `index` itself if it has its own.
    #[must_use]
    pub const fn scales_index(&self, index: u64) -> u64 {
        index.saturating_sub(self.scales_back as u64)
    }

    /// Splits a body into scales and codes.
    ///
    /// # Errors
    /// Returns [`StoreError::FrameBody`] if the length does not match.
    pub(super) fn split<'a>(&self, body: &'a [u8], count: usize) -> Result<(&'a [u8], &'a [u8]), StoreError> {
        let expected = self.body_len(count);
        if body.len() != expected {
            return Err(StoreError::FrameBody { expected, got: body.len() });
        }
        Ok(body.split_at(self.scales_len(count)))
    }
}

/// An encoded frame, as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedFrame {
    /// Metadata of the frame.
    pub head: EncodedFrameHead,
    /// Scales if the role has them, then codes, packed as in `spec/blocks.md`.
    pub body: Vec<u8>,
}
