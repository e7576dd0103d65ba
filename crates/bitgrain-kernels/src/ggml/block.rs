//! `GgmlBlock`: the block formats of llama.cpp, with the number of weights and bytes per block.

use super::{BlockQ4_0, BlockQ8_0};

/// A block format of llama.cpp.
///
/// ```
/// use bitgrain_kernels::ggml::GgmlBlock;
/// assert_eq!((GgmlBlock::Q4_0.weights(), GgmlBlock::Q4_0.bytes()), (32, 18)); // 4.5 bits per weight
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(non_camel_case_types, reason = "the names llama.cpp's users know")]
pub enum GgmlBlock {
    /// 4 bits, one scale.
    Q4_0,
    /// 4 bits, scale and minimum.
    Q4_1,
    /// 5 bits, one scale.
    Q5_0,
    /// 5 bits, scale and minimum.
    Q5_1,
    /// 8 bits, one scale.
    Q8_0,
    /// 2 bits, 4-bit scales and minima of 16 sub-blocks.
    Q2_K,
    /// 3 bits, 6-bit scales of 16 sub-blocks.
    Q3_K,
    /// 4 bits, 6-bit scales and minima of 8 sub-blocks.
    Q4_K,
    /// 5 bits, 6-bit scales and minima of 8 sub-blocks.
    Q5_K,
    /// 6 bits, 8-bit scales of 16 sub-blocks.
    Q6_K,
    /// 4 bits, a table of 16 unevenly spaced values.
    IQ4_NL,
    /// Ternary, five weights per byte.
    TQ1_0,
    /// Ternary, four weights per byte.
    TQ2_0,
    /// OCP microscaling: FP4 with a power-of-two scale.
    MXFP4,
}

impl GgmlBlock {
    /// All formats.
    pub const ALL: [Self; 14] = [
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q2_K,
        Self::Q3_K,
        Self::Q4_K,
        Self::Q5_K,
        Self::Q6_K,
        Self::IQ4_NL,
        Self::TQ1_0,
        Self::TQ2_0,
        Self::MXFP4,
    ];

    /// Returns the number of weights per block: 32 or 256.
    #[must_use]
    pub const fn weights(self) -> usize {
        match self {
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 | Self::IQ4_NL | Self::MXFP4 => 32,
            Self::Q2_K | Self::Q3_K | Self::Q4_K | Self::Q5_K | Self::Q6_K | Self::TQ1_0 | Self::TQ2_0 => 256,
        }
    }

    /// Returns the number of bytes per block.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Q4_0 => BlockQ4_0::BYTES,
            Self::IQ4_NL => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q5_1 => 24,
            Self::Q8_0 => BlockQ8_0::BYTES,
            Self::Q2_K => 84,
            Self::Q3_K => 110,
            Self::Q4_K => 144,
            Self::Q5_K => 176,
            Self::Q6_K => 210,
            Self::TQ1_0 => 54,
            Self::TQ2_0 => 66,
            Self::MXFP4 => 17,
        }
    }

    /// Returns the name in lower case: `q4_0`, `q4_k`, `iq4_nl`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q2_K => "q2_k",
            Self::Q3_K => "q3_k",
            Self::Q4_K => "q4_k",
            Self::Q5_K => "q5_k",
            Self::Q6_K => "q6_k",
            Self::IQ4_NL => "iq4_nl",
            Self::TQ1_0 => "tq1_0",
            Self::TQ2_0 => "tq2_0",
            Self::MXFP4 => "mxfp4",
        }
    }

    /// Returns the size of `weights` weights in bytes, or `None` if they do not fill whole blocks.
    #[must_use]
    pub const fn bytes_of(self, weights: usize) -> Option<usize> {
        if weights.is_multiple_of(self.weights()) { (weights / self.weights()).checked_mul(self.bytes()) } else { None }
    }

    /// Returns whether [`quantize_ggml`](crate::ggml::quantize_ggml) uses an importance per column.
    #[must_use]
    pub const fn uses_importance(self) -> bool {
        !matches!(self, Self::Q8_0 | Self::TQ1_0 | Self::TQ2_0 | Self::MXFP4)
    }
}
