//! `Rounded`: formats whose scale follows from the extremes of a block, without a search.

use crate::ggml::GgmlBlock;

/// Format that is quantized by rounding alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounded {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    TQ1_0,
    TQ2_0,
    MXFP4,
}

impl Rounded {
    /// Returns `block` as such a format. With importances, some of these formats are searched instead; the caller
    /// decides.
    pub(crate) const fn of(block: GgmlBlock) -> Option<Self> {
        match block {
            GgmlBlock::Q4_0 => Some(Self::Q4_0),
            GgmlBlock::Q4_1 => Some(Self::Q4_1),
            GgmlBlock::Q5_0 => Some(Self::Q5_0),
            GgmlBlock::Q5_1 => Some(Self::Q5_1),
            GgmlBlock::Q8_0 => Some(Self::Q8_0),
            GgmlBlock::TQ1_0 => Some(Self::TQ1_0),
            GgmlBlock::TQ2_0 => Some(Self::TQ2_0),
            GgmlBlock::MXFP4 => Some(Self::MXFP4),
            GgmlBlock::Q2_K
            | GgmlBlock::Q3_K
            | GgmlBlock::Q4_K
            | GgmlBlock::Q5_K
            | GgmlBlock::Q6_K
            | GgmlBlock::IQ4_NL => None,
        }
    }
}
