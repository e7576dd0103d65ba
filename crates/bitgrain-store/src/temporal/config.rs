//! Settings of the frame encoding.

use bitgrain_codec::{BitWidth, BlockLen, Drift, ScaleType};

/// Settings of the frame encoding. May change between frames; the run continues if possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameConfig {
    /// Bits per code in frames that are not differences. Determines the bound, which differences do not exceed.
    pub width: BitWidth,
    /// Values per block.
    pub block: BlockLen,
    /// Type of the stored scales; a frame whose scales are out of the range of f16 uses f32.
    pub scale_type: ScaleType,
    /// Share of a scale's range that may be unused when a frame shares it.
    pub drift: Drift,
    /// Maximum frames per run, which limits how many frames depend on one key frame. At 0 and 1 every frame is a key
    /// frame.
    pub run_frames: u32,
}

impl FrameConfig {
    /// Returns settings with codes of `width`, blocks of 64, f16 scales, a drift of 0.1 and runs of at most 256 frames.
    #[must_use]
    pub fn new(width: BitWidth) -> Self {
        Self { width, block: BlockLen::DEFAULT, scale_type: ScaleType::F16, drift: Drift::default(), run_frames: 256 }
    }
}
