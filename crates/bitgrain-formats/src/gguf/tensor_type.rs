//! `TensorType`: storage types of GGUF tensors.

use std::fmt;

use bitgrain_kernels::ggml::{CodebookBlock, GgmlBlock};

/// Storage type of a tensor, named as in llama.cpp. The discriminant is the type number in the file.
///
/// Missing numbers belong to types that llama.cpp removed.
///
/// ```
/// use bitgrain_formats::gguf::TensorType;
/// let kind = TensorType::from_id(12).expect("known");
/// assert_eq!((kind.name(), kind.block_weights(), kind.block_bytes()), ("q4_k", 256, 144));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
#[non_exhaustive]
#[expect(missing_docs, non_camel_case_types, reason = "the names llama.cpp's users know")]
pub enum TensorType {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q8_1 = 9,
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    Q8_K = 15,
    IQ2_XXS = 16,
    IQ2_XS = 17,
    IQ3_XXS = 18,
    IQ1_S = 19,
    IQ4_NL = 20,
    IQ3_S = 21,
    IQ2_S = 22,
    IQ4_XS = 23,
    I8 = 24,
    I16 = 25,
    I32 = 26,
    I64 = 27,
    F64 = 28,
    IQ1_M = 29,
    BF16 = 30,
    TQ1_0 = 34,
    TQ2_0 = 35,
    MXFP4 = 39,
    NVFP4 = 40,
    Q1_0 = 41,
    Q2_0 = 42,
}

impl TensorType {
    /// All types, in order of their numbers.
    pub const ALL: [Self; 35] = [
        Self::F32,
        Self::F16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q8_1,
        Self::Q2_K,
        Self::Q3_K,
        Self::Q4_K,
        Self::Q5_K,
        Self::Q6_K,
        Self::Q8_K,
        Self::IQ2_XXS,
        Self::IQ2_XS,
        Self::IQ3_XXS,
        Self::IQ1_S,
        Self::IQ4_NL,
        Self::IQ3_S,
        Self::IQ2_S,
        Self::IQ4_XS,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F64,
        Self::IQ1_M,
        Self::BF16,
        Self::TQ1_0,
        Self::TQ2_0,
        Self::MXFP4,
        Self::NVFP4,
        Self::Q1_0,
        Self::Q2_0,
    ];

    /// Returns the type with number `id`, or `None` if it is unknown.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Returns the type number stored in files.
    #[must_use]
    pub const fn id(self) -> u32 {
        self as u32
    }

    /// Returns the number of weights per block; 1 for unquantized types.
    #[must_use]
    pub const fn block_weights(self) -> u64 {
        self.block_size().0
    }

    /// Returns the size of a block, or of one number, in bytes.
    #[must_use]
    pub const fn block_bytes(self) -> u64 {
        self.block_size().1
    }

    /// Returns the size of `weights` weights in bytes, or `None` if they do not fill whole blocks or overflow.
    ///
    /// ```
    /// use bitgrain_formats::gguf::TensorType;
    /// assert_eq!(TensorType::Q4_0.bytes_of(64), Some(36));
    /// assert_eq!(TensorType::Q4_0.bytes_of(65), None);
    /// ```
    #[must_use]
    pub const fn bytes_of(self, weights: u64) -> Option<u64> {
        let (block, bytes) = self.block_size();
        if weights.is_multiple_of(block) { (weights / block).checked_mul(bytes) } else { None }
    }

    /// Weights and bytes of a block.
    const fn block_size(self) -> (u64, u64) {
        match self {
            Self::I8 => (1, 1),
            Self::F16 | Self::BF16 | Self::I16 => (1, 2),
            Self::F32 | Self::I32 => (1, 4),
            Self::F64 | Self::I64 => (1, 8),
            Self::Q4_0 | Self::IQ4_NL => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q8_1 => (32, 40),
            Self::MXFP4 => (32, 17),
            Self::NVFP4 => (64, 36),
            Self::Q2_0 => (64, 18),
            Self::Q1_0 => (128, 18),
            Self::Q2_K => (256, 84),
            Self::Q3_K | Self::IQ3_S => (256, 110),
            Self::Q4_K => (256, 144),
            Self::Q5_K => (256, 176),
            Self::Q6_K => (256, 210),
            Self::Q8_K => (256, 292),
            Self::IQ2_XXS | Self::TQ2_0 => (256, 66),
            Self::IQ2_XS => (256, 74),
            Self::IQ3_XXS => (256, 98),
            Self::IQ1_S => (256, 50),
            Self::IQ2_S => (256, 82),
            Self::IQ4_XS => (256, 136),
            Self::IQ1_M => (256, 56),
            Self::TQ1_0 => (256, 54),
        }
    }

    /// Returns the lower-case name: `f16`, `q4_0`, `iq4_nl`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q4_0 => "q4_0",
            Self::Q4_1 => "q4_1",
            Self::Q5_0 => "q5_0",
            Self::Q5_1 => "q5_1",
            Self::Q8_0 => "q8_0",
            Self::Q8_1 => "q8_1",
            Self::Q2_K => "q2_k",
            Self::Q3_K => "q3_k",
            Self::Q4_K => "q4_k",
            Self::Q5_K => "q5_k",
            Self::Q6_K => "q6_k",
            Self::Q8_K => "q8_k",
            Self::IQ2_XXS => "iq2_xxs",
            Self::IQ2_XS => "iq2_xs",
            Self::IQ3_XXS => "iq3_xxs",
            Self::IQ1_S => "iq1_s",
            Self::IQ4_NL => "iq4_nl",
            Self::IQ3_S => "iq3_s",
            Self::IQ2_S => "iq2_s",
            Self::IQ4_XS => "iq4_xs",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::IQ1_M => "iq1_m",
            Self::BF16 => "bf16",
            Self::TQ1_0 => "tq1_0",
            Self::TQ2_0 => "tq2_0",
            Self::MXFP4 => "mxfp4",
            Self::NVFP4 => "nvfp4",
            Self::Q1_0 => "q1_0",
            Self::Q2_0 => "q2_0",
        }
    }

    /// Returns the type with this lower-case name, or `None`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the block format of the kernels that encodes and decodes this type, if one exists.
    #[must_use]
    pub const fn block(self) -> Option<GgmlBlock> {
        Some(match self {
            Self::Q4_0 => GgmlBlock::Q4_0,
            Self::Q4_1 => GgmlBlock::Q4_1,
            Self::Q5_0 => GgmlBlock::Q5_0,
            Self::Q5_1 => GgmlBlock::Q5_1,
            Self::Q8_0 => GgmlBlock::Q8_0,
            Self::Q2_K => GgmlBlock::Q2_K,
            Self::Q3_K => GgmlBlock::Q3_K,
            Self::Q4_K => GgmlBlock::Q4_K,
            Self::Q5_K => GgmlBlock::Q5_K,
            Self::Q6_K => GgmlBlock::Q6_K,
            Self::IQ4_NL => GgmlBlock::IQ4_NL,
            Self::TQ1_0 => GgmlBlock::TQ1_0,
            Self::TQ2_0 => GgmlBlock::TQ2_0,
            Self::MXFP4 => GgmlBlock::MXFP4,
            _ => return None,
        })
    }

    /// Returns the format that decodes this type through a table, if one exists.
    #[must_use]
    pub fn codebook(self) -> Option<CodebookBlock> {
        CodebookBlock::ALL.into_iter().find(|block| Self::from(*block) == self)
    }
}

impl From<CodebookBlock> for TensorType {
    fn from(block: CodebookBlock) -> Self {
        match block {
            CodebookBlock::IQ1_S => Self::IQ1_S,
            CodebookBlock::IQ1_M => Self::IQ1_M,
            CodebookBlock::IQ2_XXS => Self::IQ2_XXS,
            CodebookBlock::IQ2_XS => Self::IQ2_XS,
            CodebookBlock::IQ2_S => Self::IQ2_S,
            CodebookBlock::IQ3_XXS => Self::IQ3_XXS,
            CodebookBlock::IQ3_S => Self::IQ3_S,
            CodebookBlock::IQ4_XS => Self::IQ4_XS,
            CodebookBlock::NVFP4 => Self::NVFP4,
            CodebookBlock::Q1_0 => Self::Q1_0,
            CodebookBlock::Q2_0 => Self::Q2_0,
        }
    }
}

impl From<GgmlBlock> for TensorType {
    fn from(block: GgmlBlock) -> Self {
        match block {
            GgmlBlock::Q4_0 => Self::Q4_0,
            GgmlBlock::Q4_1 => Self::Q4_1,
            GgmlBlock::Q5_0 => Self::Q5_0,
            GgmlBlock::Q5_1 => Self::Q5_1,
            GgmlBlock::Q8_0 => Self::Q8_0,
            GgmlBlock::Q2_K => Self::Q2_K,
            GgmlBlock::Q3_K => Self::Q3_K,
            GgmlBlock::Q4_K => Self::Q4_K,
            GgmlBlock::Q5_K => Self::Q5_K,
            GgmlBlock::Q6_K => Self::Q6_K,
            GgmlBlock::IQ4_NL => Self::IQ4_NL,
            GgmlBlock::TQ1_0 => Self::TQ1_0,
            GgmlBlock::TQ2_0 => Self::TQ2_0,
            GgmlBlock::MXFP4 => Self::MXFP4,
        }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_formats_agree_with_the_kernels() {
        for block in GgmlBlock::ALL {
            let kind = TensorType::from(block);
            assert_eq!(kind.block(), Some(block));
            assert_eq!(kind.name(), block.name());
            assert_eq!((kind.block_weights(), kind.block_bytes()), (block.weights() as u64, block.bytes() as u64));
        }
    }

    #[test]
    fn codebook_formats_agree_with_the_kernels() {
        for block in CodebookBlock::ALL {
            let kind = TensorType::from(block);
            assert_eq!((kind.codebook(), kind.block()), (Some(block), None));
            assert_eq!(kind.name(), block.name());
            assert_eq!((kind.block_weights(), kind.block_bytes()), (block.weights() as u64, block.bytes() as u64));
        }
    }

    #[test]
    fn ids_and_names_are_unique_and_round_trip() {
        assert!(TensorType::ALL.is_sorted_by(|a, b| a.id() < b.id()));
        for kind in TensorType::ALL {
            assert_eq!(TensorType::from_id(kind.id()), Some(kind));
            assert_eq!(TensorType::from_name(kind.name()), Some(kind));
            assert_eq!(format!("{kind:?}").to_lowercase(), kind.name());
        }
    }

    #[test]
    fn removed_types_are_not_known() {
        for id in [4, 5, 31, 32, 33, 36, 37, 38, 43, u32::MAX] {
            assert_eq!(TensorType::from_id(id), None, "{id}");
        }
    }
}
