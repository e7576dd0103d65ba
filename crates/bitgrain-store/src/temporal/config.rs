//! How frames are encoded.

use bitgrain_codec::{BitWidth, BlockLen, Drift, ScaleType};

/// How frames are encoded. May change from frame to frame: a run goes on where it can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameConfig {
    /// Bits of a code in frames that are not differences. Sets the bound that no difference exceeds.
    pub width: BitWidth,
    /// Values per block.
    pub block: BlockLen,
    /// How scales are stored; a frame with scales that an f16 cannot hold has f32 ones.
    pub scale_type: ScaleType,
    /// Share of a scale's range that may lie idle when a frame shares it.
    pub drift: Drift,
    /// Most frames of a run, so that no key frame is needed by too many. At 0 and 1 every frame is a key frame.
    pub run_frames: u32,
}

impl FrameConfig {
    /// Codes of `width`, blocks of 64, f16 scales, a drift of a tenth, runs of at most 256 frames.
    #[must_use]
    pub fn new(width: BitWidth) -> Self {
        Self { width, block: BlockLen::DEFAULT, scale_type: ScaleType::F16, drift: Drift::default(), run_frames: 256 }
    }
}
