//! `WeightFormat`: every format of a weight matrix, under one name.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::{
    CodebookBlock, GgmlBlock, dequantize_codebook, dequantize_ggml, quantize_codebook, quantize_ggml,
};

use super::grid::Grid;
use super::scaled::{check_finite, whole_rows};
use super::{Calibration, DType, Parts, PartsMut, ScaledFormat, Scaling, Sizes, optimum, q4f32};
use crate::CodecErr;

/// Storage format of a weight matrix.
///
/// ```
/// use bitgrain_codec::weight::WeightFormat;
/// let format: WeightFormat = "q4_k".parse()?;
/// assert_eq!(format.sizes(1, 256)?.bytes(), 144);
/// assert!(format.sizes(1, 100).is_err()); // not a multiple of the block length
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightFormat {
    /// One of the 21 dtypes, with scales stored separately from the codes.
    Scaled(ScaledFormat),
    /// A block format of llama.cpp.
    Ggml(GgmlBlock),
    /// A block format of llama.cpp that is decoded through a table. Only some of these formats can be encoded.
    Codebook(CodebookBlock),
    /// 32 weights as 4-bit codes after an f32 scale, 20 bytes.
    Q4F32,
}

impl WeightFormat {
    /// Returns every format that can be encoded without importances, with its default scaling: the dtypes, llama.cpp's
    /// blocks, then this project's own block.
    ///
    /// ```
    /// use bitgrain_codec::weight::WeightFormat;
    /// assert!(WeightFormat::all().any(|format| format.name() == "q4_k"));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        let dtypes = DType::ALL.into_iter().map(Self::from);
        let codebooks = CodebookBlock::ALL.into_iter().map(Self::Codebook);
        let codebooks = codebooks.filter(|format| format.is_encodable() && !format.requires_importance());
        dtypes.chain(GgmlBlock::ALL.into_iter().map(Self::Ggml)).chain(codebooks).chain([Self::Q4F32])
    }

    /// Returns the block length, of which the row length must be a multiple; 1 for the scaled dtypes.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::Scaled(_) => 1,
            Self::Ggml(block) => block.weights(),
            Self::Codebook(block) => block.weights(),
            Self::Q4F32 => q4f32::WEIGHTS,
        }
    }

    /// Returns the sizes of a matrix's arrays.
    ///
    /// # Errors
    /// Returns [`CodecErr::RaggedBlocks`] if a row does not fill whole blocks, or [`CodecErr::InvalidScaling`].
    pub fn sizes(self, rows: usize, cols: usize) -> Result<Sizes, CodecErr> {
        let bytes = match self {
            Self::Scaled(format) => return format.sizes(rows, cols),
            Self::Ggml(block) => block.bytes(),
            Self::Codebook(block) => block.bytes(),
            Self::Q4F32 => q4f32::BYTES,
        };
        if !cols.is_multiple_of(self.block()) {
            return Err(CodecErr::RaggedBlocks { len: cols, block: self.block() });
        }
        Ok(Sizes { codes: (cols / self.block()).saturating_mul(bytes).saturating_mul(rows), scales: 0, zeros: 0 })
    }

    /// Returns the bits per weight of a matrix of this shape, including scales and zero points.
    ///
    /// # Errors
    /// Returns the errors of [`sizes`](Self::sizes).
    #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
    pub fn bits_per_weight(self, rows: usize, cols: usize) -> Result<f64, CodecErr> {
        let weights = rows as f64 * cols as f64;
        Ok(if weights == 0.0 { 0.0 } else { 8.0 * self.sizes(rows, cols)?.bytes() as f64 / weights })
    }

    /// Finds the grid of a tensor with a single grid; see [`ScaledFormat::tensor_grid`].
    ///
    /// # Errors
    /// Returns the errors of [`ScaledFormat::tensor_grid`].
    pub fn tensor_grid(self, values: &[f32]) -> Result<Option<Grid>, CodecErr> {
        match self {
            Self::Scaled(format) => format.tensor_grid(values),
            Self::Ggml(_) | Self::Codebook(_) | Self::Q4F32 => Ok(None),
        }
    }

    /// Finds the grid from the range of the weights alone; see [`ScaledFormat::tensor_grid_of_range`].
    #[must_use]
    pub fn tensor_grid_of_range(self, lo: f32, hi: f32) -> Option<Grid> {
        match self {
            Self::Scaled(format) => format.tensor_grid_of_range(lo, hi),
            Self::Ggml(_) | Self::Codebook(_) | Self::Q4F32 => None,
        }
    }

    /// Returns whether a tensor-wide grid must be found before the first row is encoded.
    #[must_use]
    pub const fn needs_tensor_grid(self) -> bool {
        matches!(self, Self::Scaled(ScaledFormat { scaling: Scaling::Tensor, .. }))
    }

    /// Returns whether [`encode_rows`](Self::encode_rows) uses an importance per column: most llama.cpp blocks, and
    /// dtypes that search their scales by squared error, except with one scale per tensor.
    #[must_use]
    pub const fn uses_importance(self) -> bool {
        match self {
            Self::Scaled(ScaledFormat { dtype, scaling: Scaling::Channel | Scaling::Group(_), calibration }) => {
                let searched = !dtype.is_plain() && dtype.bits() <= 8;
                matches!(dtype, DType::Ternary | DType::Binary)
                    || searched && matches!(calibration, Calibration::MeanSquaredError)
            }
            Self::Scaled(_) | Self::Q4F32 => false,
            Self::Ggml(block) => block.uses_importance(),
            Self::Codebook(block) => block.is_encodable(),
        }
    }

    /// Quantizes complete rows; see [`ScaledFormat::encode_rows`].
    ///
    /// # Errors
    /// Returns the errors of [`ScaledFormat::encode_rows`], and [`CodecErr::RaggedBlocks`].
    pub fn encode_rows(
        self,
        values: &[f32],
        cols: usize,
        grid: Option<Grid>,
        importance: Option<&[f32]>,
        out: PartsMut<'_>,
    ) -> Result<(), CodecErr> {
        let sizes = self.sizes(whole_rows(values.len(), cols)?, cols)?;
        match self {
            Self::Scaled(format) => return format.encode_rows(values, cols, grid, importance, out),
            Self::Ggml(_) | Self::Codebook(_) | Self::Q4F32 => check_finite(values)?,
        }
        if out.codes.len() != sizes.codes {
            return Err(CodecErr::OutputTooSmall { required: sizes.codes });
        }
        if values.is_empty() {
            return Ok(());
        }
        match self {
            Self::Ggml(block) => {
                quantize_ggml(Backend::best(), block, values, cols, importance, out.codes)?;
                Ok(())
            }
            Self::Codebook(block) => {
                quantize_codebook(block, values, cols, importance, out.codes)?;
                Ok(())
            }
            Self::Scaled(_) | Self::Q4F32 => q4f32::encode(values, out.codes),
        }
    }

    /// Dequantizes complete rows; see [`ScaledFormat::decode_rows`]. The scales of llama.cpp blocks are not checked, so
    /// that these blocks may decode to infinities.
    ///
    /// # Errors
    /// Returns the errors of [`ScaledFormat::decode_rows`], and [`CodecErr::RaggedBlocks`].
    pub fn decode_rows(self, parts: Parts<'_>, cols: usize, out: &mut [f32]) -> Result<(), CodecErr> {
        let sizes = self.sizes(whole_rows(out.len(), cols)?, cols)?;
        let codes = parts.codes.get(..sizes.codes).ok_or(CodecErr::InputTooSmall { required: sizes.codes })?;
        match self {
            Self::Scaled(format) => format.decode_rows(parts, cols, out),
            Self::Ggml(block) => {
                dequantize_ggml(Backend::best(), block, codes, out)?;
                Ok(())
            }
            Self::Codebook(block) => {
                dequantize_codebook(block, codes, out)?;
                Ok(())
            }
            Self::Q4F32 => q4f32::decode(codes, out),
        }
    }

    /// Returns the least relative RMS error that a quantizer with as many levels and one scale can reach on normally
    /// distributed weights.
    #[must_use]
    pub fn optimum(self) -> f64 {
        optimum::scalar(match self {
            Self::Scaled(format) => format.dtype.levels(),
            Self::Q4F32 => 16.0,
            Self::Codebook(block) => match block {
                CodebookBlock::Q1_0 => 2.0,
                CodebookBlock::IQ1_S | CodebookBlock::IQ1_M => 3.0,
                CodebookBlock::Q2_0 => 4.0,
                // Magnitudes of three values.
                CodebookBlock::IQ2_XXS | CodebookBlock::IQ2_XS | CodebookBlock::IQ2_S => 6.0,
                CodebookBlock::NVFP4 => 15.0,
                CodebookBlock::IQ3_XXS | CodebookBlock::IQ3_S | CodebookBlock::IQ4_XS => 16.0,
            },
            Self::Ggml(block) => match block {
                GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => 3.0,
                GgmlBlock::Q2_K => 4.0,
                GgmlBlock::Q3_K => 8.0,
                GgmlBlock::MXFP4 => 15.0,
                GgmlBlock::Q4_0 | GgmlBlock::Q4_1 | GgmlBlock::Q4_K | GgmlBlock::IQ4_NL => 16.0,
                GgmlBlock::Q5_0 | GgmlBlock::Q5_1 | GgmlBlock::Q5_K => 32.0,
                GgmlBlock::Q6_K => 64.0,
                GgmlBlock::Q8_0 => 255.0,
            },
        })
    }

    /// Returns whether [`encode_rows`](Self::encode_rows) writes the format; some are only decoded.
    #[must_use]
    pub const fn is_encodable(self) -> bool {
        match self {
            Self::Codebook(block) => block.is_encodable(),
            Self::Scaled(_) | Self::Ggml(_) | Self::Q4F32 => true,
        }
    }

    /// Returns whether [`encode_rows`](Self::encode_rows) requires an importance per column.
    #[must_use]
    pub const fn requires_importance(self) -> bool {
        matches!(self, Self::Codebook(block) if block.requires_importance())
    }

    /// Returns the name without scaling and calibration: `int4`, `q4_k`, `q4f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scaled(format) => format.dtype.name(),
            Self::Ggml(block) => block.name(),
            Self::Codebook(block) => block.name(),
            Self::Q4F32 => "q4f32",
        }
    }
}

impl From<ScaledFormat> for WeightFormat {
    fn from(format: ScaledFormat) -> Self {
        Self::Scaled(format)
    }
}

impl From<DType> for WeightFormat {
    /// Uses the dtype's default scaling.
    fn from(dtype: DType) -> Self {
        Self::Scaled(ScaledFormat::new(dtype))
    }
}

impl From<GgmlBlock> for WeightFormat {
    fn from(block: GgmlBlock) -> Self {
        Self::Ggml(block)
    }
}

impl From<CodebookBlock> for WeightFormat {
    fn from(block: CodebookBlock) -> Self {
        Self::Codebook(block)
    }
}

impl fmt::Display for WeightFormat {
    /// Writes the name, and the scaling if it is not the default: `int4/32`, `int8/tensor`, `fp8_e4m3/none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::from(self.name());
        if let Self::Scaled(format) = self {
            text.push_str(&format.scaling_suffix());
        }
        f.pad(&text)
    }
}

impl FromStr for WeightFormat {
    type Err = CodecErr;

    /// Parses the output of [`Display`](fmt::Display), ignoring case.
    fn from_str(name: &str) -> Result<Self, CodecErr> {
        let name = name.to_ascii_lowercase();
        let name = name.as_str();
        let codebooks = CodebookBlock::ALL.into_iter().map(Self::Codebook);
        let block =
            Self::all().chain(codebooks).find(|format| format.name() == name && !matches!(format, Self::Scaled(_)));
        block.map_or_else(|| ScaledFormat::from_str(name).map(Self::Scaled), Ok)
    }
}
