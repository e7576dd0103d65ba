//! Block formats of llama.cpp whose codes index tables: IQ1 to IQ4_XS, NVFP4, Q1_0 and Q2_0. Spec: `spec/ggml.md`.
//!
//! Portable code only, with the bits of the reference in both directions. These formats are read to convert models; the
//! formats of [`GgmlBlock`](super::GgmlBlock) have kernels for each instruction set and products.

mod decode;
mod grid;
mod iq2_xs;
mod iq3_s;
mod iq4_xs;
mod neighbors;
mod pairs;
mod triples;
mod trits;

use crate::KernelError;

/// A block format of llama.cpp that is decoded through a table.
///
/// ```
/// use bitgrain_kernels::ggml::CodebookBlock;
/// assert_eq!((CodebookBlock::IQ2_XS.weights(), CodebookBlock::IQ2_XS.bytes()), (256, 74)); // 2.3125 bits per weight
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(non_camel_case_types, reason = "the names llama.cpp's users know")]
pub enum CodebookBlock {
    /// 1.5625 bits, a codebook of 2048 octets of ternary weights.
    IQ1_S,
    /// 1.75 bits, the codebook of IQ1_S with a scale per 16 weights.
    IQ1_M,
    /// 2.0625 bits, a codebook of 256 octets.
    IQ2_XXS,
    /// 2.3125 bits, a codebook of 512 octets.
    IQ2_XS,
    /// 2.5625 bits, a codebook of 1024 octets.
    IQ2_S,
    /// 3.0625 bits, a codebook of 256 quadruples.
    IQ3_XXS,
    /// 3.4375 bits, a codebook of 512 quadruples.
    IQ3_S,
    /// 4.25 bits, the table of IQ4_NL with a 6-bit scale per 32 weights.
    IQ4_XS,
    /// 4.5 bits: FP4 with an unsigned FP8 scale per 16 weights.
    NVFP4,
    /// The sign, with a scale per 128 weights.
    Q1_0,
    /// -1, 0, 1 or 2, with a scale per 64 weights.
    Q2_0,
}

impl CodebookBlock {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::IQ1_S,
        Self::IQ1_M,
        Self::IQ2_XXS,
        Self::IQ2_XS,
        Self::IQ2_S,
        Self::IQ3_XXS,
        Self::IQ3_S,
        Self::IQ4_XS,
        Self::NVFP4,
        Self::Q1_0,
        Self::Q2_0,
    ];

    /// Returns the number of weights per block.
    #[must_use]
    pub const fn weights(self) -> usize {
        match self {
            Self::NVFP4 | Self::Q2_0 => 64,
            Self::Q1_0 => 128,
            _ => 256,
        }
    }

    /// Returns the number of bytes per block.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Q1_0 | Self::Q2_0 => 18,
            Self::NVFP4 => 36,
            Self::IQ1_S => 50,
            Self::IQ1_M => 56,
            Self::IQ2_XXS => 66,
            Self::IQ2_XS => 74,
            Self::IQ2_S => 82,
            Self::IQ3_XXS => 98,
            Self::IQ3_S => 110,
            Self::IQ4_XS => 136,
        }
    }

    /// Returns the name in lower case: `iq2_xs`, `nvfp4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IQ1_S => "iq1_s",
            Self::IQ1_M => "iq1_m",
            Self::IQ2_XXS => "iq2_xxs",
            Self::IQ2_XS => "iq2_xs",
            Self::IQ2_S => "iq2_s",
            Self::IQ3_XXS => "iq3_xxs",
            Self::IQ3_S => "iq3_s",
            Self::IQ4_XS => "iq4_xs",
            Self::NVFP4 => "nvfp4",
            Self::Q1_0 => "q1_0",
            Self::Q2_0 => "q2_0",
        }
    }

    /// Returns whether [`quantize_codebook`] writes the format.
    #[must_use]
    pub const fn is_encodable(self) -> bool {
        matches!(self, Self::IQ2_XS | Self::IQ3_S | Self::IQ4_XS)
    }

    /// Returns whether [`quantize_codebook`] requires an importance per column, as llama.cpp does.
    #[must_use]
    pub const fn requires_importance(self) -> bool {
        matches!(self, Self::IQ2_XS)
    }

    /// Returns the size of `weights` weights in bytes, or `None` if they do not fill whole blocks.
    #[must_use]
    pub const fn bytes_of(self, weights: usize) -> Option<usize> {
        if weights.is_multiple_of(self.weights()) { (weights / self.weights()).checked_mul(self.bytes()) } else { None }
    }
}

/// Dequantizes blocks into `out`. Returns the number of bytes read.
///
/// Every byte pattern is valid; a scale that is NaN or infinite gives values that are not finite.
///
/// # Errors
/// Returns [`KernelError::RaggedBlocks`] if `out` does not hold whole blocks, or [`KernelError::InputTooSmall`].
pub fn dequantize_codebook(block: CodebookBlock, bytes: &[u8], out: &mut [f32]) -> Result<usize, KernelError> {
    let ragged = KernelError::RaggedBlocks { len: out.len(), block: block.weights() };
    let required = block.bytes_of(out.len()).ok_or(ragged)?;
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    decode::decode(block, bytes, out);
    Ok(required)
}

/// Quantizes rows of `row_len` weights. Returns the number of bytes written.
///
/// `importance` holds one non-negative number per column. Values should be finite.
///
/// # Errors
/// Returns [`KernelError::DecodeOnly`] for a format that is not [encodable](CodebookBlock::is_encodable),
/// [`KernelError::MissingImportance`] for one that [requires](CodebookBlock::requires_importance) importances, and the
/// errors of [`quantize_ggml`](super::quantize_ggml).
pub fn quantize_codebook(
    block: CodebookBlock,
    values: &[f32],
    row_len: usize,
    importance: Option<&[f32]>,
    out: &mut [u8],
) -> Result<usize, KernelError> {
    let ragged = KernelError::RaggedBlocks { len: row_len, block: block.weights() };
    if row_len == 0 || !values.len().is_multiple_of(row_len) || !row_len.is_multiple_of(block.weights()) {
        return Err(ragged);
    }
    let required = block.bytes_of(values.len()).ok_or(ragged)?;
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    if !block.is_encodable() {
        return Err(KernelError::DecodeOnly { format: block.name() });
    }
    let importance = match importance {
        Some(importance) => Some(importance.get(..row_len).ok_or(KernelError::InputTooSmall { required: row_len })?),
        None if block.requires_importance() => {
            return Err(KernelError::MissingImportance { format: block.name() });
        }
        None => None,
    };
    let blocks = values.as_chunks::<256>().0.iter().zip(out.chunks_exact_mut(block.bytes()));
    for (i, (values, out)) in blocks.enumerate() {
        let columns = importance.and_then(|all| all[i * 256 % row_len..].first_chunk::<256>());
        match block {
            CodebookBlock::IQ4_XS => iq4_xs::encode(values, columns, out),
            CodebookBlock::IQ3_S => iq3_s::encode(values, columns, out),
            _ => iq2_xs::encode(values, columns.unwrap_or(&[0.0; 256]), out),
        }
    }
    Ok(required)
}
