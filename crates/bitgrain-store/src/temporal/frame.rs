//! An encoded frame: what kind it is, what it needs, and its bytes.

use bitgrain_codec::{BitWidth, BlockLen, ScaleType};

use crate::StoreError;

/// What a frame's codes stand for and where their scales are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameRole {
    /// Starts a run: its own scales, then the codes of its values.
    Key,
    /// Codes of its values at the key frame's scales.
    Shared,
    /// Its own scales, then the codes of what is to be added to the decoded key frame.
    DifferenceKey,
    /// Codes of what is to be added to the decoded key frame, at the scales of an earlier [`DifferenceKey`](Self::DifferenceKey).
    DifferenceShared,
}

impl FrameRole {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Key, Self::Shared, Self::DifferenceKey, Self::DifferenceShared];

    /// True if scales come before the codes.
    #[must_use]
    pub const fn has_scales(self) -> bool {
        matches!(self, Self::Key | Self::DifferenceKey)
    }

    /// True if the codes are of a difference to the key frame.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Self::DifferenceKey | Self::DifferenceShared)
    }
}

/// What is known of an encoded frame beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncodedFrameHead {
    /// What the codes stand for.
    pub role: FrameRole,
    /// Bits of a code.
    pub width: BitWidth,
    /// Values per block.
    pub block: BlockLen,
    /// How its scales are stored; those it shares, if it has none of its own.
    pub scale_type: ScaleType,
    /// Frames back to the key frame of the run; 0 for the key frame.
    pub key_back: u32,
    /// Frames back to the one with its scales; 0 if they are its own, `key_back` for a shared frame.
    pub scales_back: u32,
    /// No value is further from the one that was encoded than this.
    pub bound: f32,
    /// Largest error that occurred.
    pub measured: f32,
}

impl EncodedFrameHead {
    /// Bytes of the body of a frame of `count` values.
    #[must_use]
    pub const fn body_len(&self, count: usize) -> usize {
        self.scales_len(count).saturating_add(self.width.packed_len(count))
    }

    /// Bytes of the scales before the codes.
    #[must_use]
    pub const fn scales_len(&self, count: usize) -> usize {
        if self.role.has_scales() {
            count.div_ceil(self.block.get()).saturating_mul(self.scale_type.bytes())
        } else {
            0
        }
    }

    /// Index of the key frame that frame `index` needs: its own if it is one.
    #[must_use]
    pub const fn key_index(&self, index: u64) -> u64 {
        index.saturating_sub(self.key_back as u64)
    }

    /// Index of the frame that has the scales of frame `index`: its own if it has them.
    #[must_use]
    pub const fn scales_index(&self, index: u64) -> u64 {
        index.saturating_sub(self.scales_back as u64)
    }

    /// Scales and codes of a body.
    ///
    /// # Errors
    /// [`StoreError::FrameBody`].
    pub(super) fn split<'a>(&self, body: &'a [u8], count: usize) -> Result<(&'a [u8], &'a [u8]), StoreError> {
        let expected = self.body_len(count);
        if body.len() != expected {
            return Err(StoreError::FrameBody { expected, got: body.len() });
        }
        Ok(body.split_at(self.scales_len(count)))
    }
}

/// A frame as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedFrame {
    /// What it is.
    pub head: EncodedFrameHead,
    /// Scales if the role has them, then the codes, packed as in `spec/blocks.md`.
    pub body: Vec<u8>,
}
