//! `WeightFormat`: everything a matrix can be stored as, under one name.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use bitgrain_kernels::Backend;
use bitgrain_kernels::ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};

use super::grid::Grid;
use super::scaled::{check_finite, whole_rows};
use super::{Calibration, DType, Parts, PartsMut, ScaledFormat, Scaling, Sizes, optimum, q4f32};
use crate::CodecErr;

/// A way to store a matrix of weights.
///
/// ```
/// use bitgrain_codec::weight::WeightFormat;
/// let format: WeightFormat = "q4_k".parse()?;
/// assert_eq!(format.sizes(1, 256)?.bytes(), 144);
/// assert!(format.sizes(1, 100).is_err()); // not whole blocks
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightFormat {
    /// One of the 21 dtypes with scales beside the codes.
    Scaled(ScaledFormat),
    /// A block format of llama.cpp.
    Ggml(GgmlBlock),
    /// 32 weights as 4-bit codes after an f32 scale, 20 bytes.
    Q4F32,
}

impl WeightFormat {
    /// Weights that a row must be a multiple of; 1 for the scaled dtypes.
    #[must_use]
    pub const fn block(self) -> usize {
        match self {
            Self::Scaled(_) => 1,
            Self::Ggml(block) => block.weights(),
            Self::Q4F32 => q4f32::WEIGHTS,
        }
    }

    /// Sizes of the arrays of a matrix.
    ///
    /// # Errors
    /// [`CodecErr::RaggedBlocks`] if a row is not whole blocks, [`CodecErr::InvalidScaling`].
    pub fn sizes(self, rows: usize, cols: usize) -> Result<Sizes, CodecErr> {
        let bytes = match self {
            Self::Scaled(format) => return format.sizes(rows, cols),
            Self::Ggml(block) => block.bytes(),
            Self::Q4F32 => q4f32::BYTES,
        };
        if !cols.is_multiple_of(self.block()) {
            return Err(CodecErr::RaggedBlocks { len: cols, block: self.block() });
        }
        Ok(Sizes { codes: (cols / self.block()).saturating_mul(bytes).saturating_mul(rows), scales: 0, zeros: 0 })
    }

    /// Bits per weight of such a matrix, scales and zero points included.
    ///
    /// # Errors
    /// As [`sizes`](Self::sizes).
    #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
    pub fn bits_per_weight(self, rows: usize, cols: usize) -> Result<f64, CodecErr> {
        let weights = rows as f64 * cols as f64;
        Ok(if weights == 0.0 { 0.0 } else { 8.0 * self.sizes(rows, cols)?.bytes() as f64 / weights })
    }

    /// The one grid of a tensor that has one: see [`ScaledFormat::tensor_grid`].
    ///
    /// # Errors
    /// As there.
    pub fn tensor_grid(self, values: &[f32]) -> Result<Option<Grid>, CodecErr> {
        match self {
            Self::Scaled(format) => format.tensor_grid(values),
            Self::Ggml(_) | Self::Q4F32 => Ok(None),
        }
    }

    /// The same from the range of the weights alone: see [`ScaledFormat::tensor_grid_of_range`].
    #[must_use]
    pub fn tensor_grid_of_range(self, lo: f32, hi: f32) -> Option<Grid> {
        match self {
            Self::Scaled(format) => format.tensor_grid_of_range(lo, hi),
            Self::Ggml(_) | Self::Q4F32 => None,
        }
    }

    /// Whether one grid must be found before the first row is encoded.
    #[must_use]
    pub const fn needs_tensor_grid(self) -> bool {
        matches!(self, Self::Scaled(ScaledFormat { scaling: Scaling::Tensor, .. }))
    }

    /// Whether [`encode_rows`](Self::encode_rows) makes use of an importance per column: most blocks of llama.cpp, and
    /// dtypes that search their scales by squared error, unless one scale serves the whole tensor.
    #[must_use]
    pub const fn takes_importance(self) -> bool {
        match self {
            Self::Scaled(ScaledFormat { dtype, scaling: Scaling::Channel | Scaling::Group(_), calibration }) => {
                let searched = !dtype.is_plain() && dtype.bits() <= 8;
                matches!(dtype, DType::Ternary | DType::Binary)
                    || searched && matches!(calibration, Calibration::MeanSquaredError)
            }
            Self::Scaled(_) | Self::Q4F32 => false,
            Self::Ggml(block) => block.takes_importance(),
        }
    }

    /// Quantizes whole rows: see [`ScaledFormat::encode_rows`].
    ///
    /// # Errors
    /// As there, and [`CodecErr::RaggedBlocks`].
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
            Self::Ggml(_) | Self::Q4F32 => check_finite(values)?,
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
            Self::Scaled(_) | Self::Q4F32 => q4f32::encode(values, out.codes),
        }
    }

    /// Dequantizes whole rows: see [`ScaledFormat::decode_rows`]. Blocks of llama.cpp decode to whatever their scales
    /// say, infinities included.
    ///
    /// # Errors
    /// As there, and [`CodecErr::RaggedBlocks`].
    pub fn decode_rows(self, parts: Parts<'_>, cols: usize, out: &mut [f32]) -> Result<(), CodecErr> {
        let sizes = self.sizes(whole_rows(out.len(), cols)?, cols)?;
        let codes = parts.codes.get(..sizes.codes).ok_or(CodecErr::InputTooSmall { required: sizes.codes })?;
        match self {
            Self::Scaled(format) => format.decode_rows(parts, cols, out),
            Self::Ggml(block) => {
                dequantize_ggml(Backend::best(), block, codes, out)?;
                Ok(())
            }
            Self::Q4F32 => q4f32::decode(codes, out),
        }
    }

    /// The least relative RMS error that any quantizer with as many levels and one scale can have on normally
    /// distributed weights.
    #[must_use]
    pub fn optimum(self) -> f64 {
        optimum::scalar(match self {
            Self::Scaled(format) => format.dtype.levels(),
            Self::Q4F32 => 16.0,
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

    /// The name without scaling and calibration: `int4`, `q4_k`, `q4f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scaled(format) => format.dtype.name(),
            Self::Ggml(block) => block.name(),
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
    /// With the dtype's usual scaling.
    fn from(dtype: DType) -> Self {
        Self::Scaled(ScaledFormat::new(dtype))
    }
}

impl From<GgmlBlock> for WeightFormat {
    fn from(block: GgmlBlock) -> Self {
        Self::Ggml(block)
    }
}

impl fmt::Display for WeightFormat {
    /// The name, and the scaling where it is not the usual one: `int4/32`, `int8/tensor`, `fp8_e4m3/none`.
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

    /// What [`Display`](fmt::Display) writes, in capitals or not.
    fn from_str(name: &str) -> Result<Self, CodecErr> {
        let name = name.to_ascii_lowercase();
        let name = name.as_str();
        if let Some(block) = GgmlBlock::ALL.into_iter().find(|block| block.name() == name) {
            return Ok(Self::Ggml(block));
        }
        if name == "q4f32" {
            return Ok(Self::Q4F32);
        }
        ScaledFormat::from_str(name).map(Self::Scaled)
    }
}
