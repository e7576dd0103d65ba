//! `TensorEncoding`: storage format of a tensor's values.

use std::fmt;
use std::sync::Arc;

use bitgrain_codec::weight::{DType, ScaledFormat, Scaling, WeightFormat};

/// Storage format of a tensor's values.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorEncoding {
    /// Weights that can be dequantized: floats, dtypes with scales, block formats.
    Weights(WeightFormat),
    /// Weights as another quantizer packed them. They decode to f32, and conversions that keep a tensor write float32.
    Packed {
        /// Method and width: `gptq int4/128`.
        kind: Arc<str>,
    },
    /// Integers that are not weights, such as positions and masks. Conversions copy them unchanged.
    Integers {
        /// Width and signedness.
        dtype: DType,
        /// Name in the file: `I64`, `BOOL`.
        name: &'static str,
    },
    /// A type of known name and size that cannot be decoded.
    Opaque {
        /// Name in the file: `IQ2_XS`, `C64`.
        name: &'static str,
    },
}

impl TensorEncoding {
    /// Returns the encoding of `dtype` without scales.
    pub(crate) const fn plain(dtype: DType) -> Self {
        let scaled = ScaledFormat::new(dtype);
        Self::Weights(WeightFormat::Scaled(ScaledFormat { scaling: Scaling::None, ..scaled }))
    }

    /// Returns whether the dtype of a safetensors file describes the encoding completely, so that no note is needed.
    pub(crate) fn is_self_evident(&self) -> bool {
        match self {
            Self::Weights(WeightFormat::Scaled(format)) => {
                let fp8 = matches!(format.dtype, DType::Fp8E4M3 | DType::Fp8E5M2);
                format.dtype.is_plain() || fp8 && format.scaling == Scaling::None
            }
            Self::Weights(_) | Self::Packed { .. } => false,
            Self::Integers { .. } | Self::Opaque { .. } => true,
        }
    }

    /// Returns the format that decodes the bytes to f32, if any.
    pub(crate) fn decoder(&self) -> Option<WeightFormat> {
        match *self {
            Self::Weights(_) | Self::Packed { .. } => self.format(),
            Self::Integers { dtype, .. } => Self::plain(dtype).format(),
            Self::Opaque { .. } => None,
        }
    }

    /// Returns whether the values are plain floats of at least 16 bits.
    #[must_use]
    pub fn is_float(&self) -> bool {
        let name = self.format().map(WeightFormat::name);
        let packed = matches!(self, Self::Packed { .. });
        !packed && matches!(name, Some("float16" | "bfloat16" | "float32" | "float64"))
    }

    /// Returns the weight format: float32 for packed weights, `None` for integers and opaque types.
    #[must_use]
    pub const fn format(&self) -> Option<WeightFormat> {
        match self {
            Self::Weights(format) => Some(*format),
            Self::Packed { .. } => Some(WeightFormat::Scaled(ScaledFormat::new(DType::Float32))),
            Self::Integers { .. } | Self::Opaque { .. } => None,
        }
    }
}

impl fmt::Display for TensorEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // FP8 that came without scales is shown as the file names it, without a scaling suffix.
            Self::Weights(WeightFormat::Scaled(format)) if format.scaling == Scaling::None => {
                f.pad(format.dtype.name())
            }
            Self::Weights(format) => fmt::Display::fmt(format, f),
            Self::Packed { kind } => f.pad(kind),
            Self::Integers { name, .. } | Self::Opaque { name } => f.pad(&name.to_lowercase()),
        }
    }
}
