//! `TensorEncoding`: how a tensor's numbers are stored, and whether they are weights.

use std::fmt;

use bitgrain_codec::weight::{DType, ScaledFormat, Scaling, WeightFormat};

/// How the numbers of a tensor are stored.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorEncoding {
    /// Weights that can be dequantized: floats, dtypes with scales, blocks.
    Weights(WeightFormat),
    /// Whole numbers that are no weights: positions, masks. They are kept as they are.
    Integers {
        /// The width and sign they have.
        dtype: DType,
        /// As the file calls it: `I64`, `BOOL`.
        name: &'static str,
    },
    /// Known by name and size alone.
    Opaque {
        /// As the file calls it: `IQ2_XS`, `C64`.
        name: &'static str,
    },
}

impl TensorEncoding {
    /// A plain float, or a short one without scale.
    pub(crate) const fn plain(dtype: DType) -> Self {
        let scaled = ScaledFormat::new(dtype);
        Self::Weights(WeightFormat::Scaled(ScaledFormat { scaling: Scaling::None, ..scaled }))
    }

    /// Whether a safetensors file says all there is to say by its own dtypes.
    pub(crate) fn is_self_evident(&self) -> bool {
        match self {
            Self::Weights(WeightFormat::Scaled(format)) => {
                let fp8 = matches!(format.dtype, DType::Fp8E4M3 | DType::Fp8E5M2);
                format.dtype.is_plain() || fp8 && format.scaling == Scaling::None
            }
            Self::Weights(_) => false,
            Self::Integers { .. } | Self::Opaque { .. } => true,
        }
    }

    /// What turns the bytes into f32, if anything does.
    pub(crate) fn decoder(&self) -> Option<WeightFormat> {
        match *self {
            Self::Weights(format) => Some(format),
            Self::Integers { dtype, .. } => match Self::plain(dtype) {
                Self::Weights(format) => Some(format),
                Self::Integers { .. } | Self::Opaque { .. } => None,
            },
            Self::Opaque { .. } => None,
        }
    }

    /// Whether these are plain floats, of 16 bits or more.
    #[must_use]
    pub fn is_float(&self) -> bool {
        let name = self.format().map(WeightFormat::name);
        matches!(name, Some("float16" | "bfloat16" | "float32" | "float64"))
    }

    /// The format, if these are weights.
    #[must_use]
    pub const fn format(&self) -> Option<WeightFormat> {
        match self {
            Self::Weights(format) => Some(*format),
            Self::Integers { .. } | Self::Opaque { .. } => None,
        }
    }
}

impl fmt::Display for TensorEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A file's own FP8 has no scale, and nobody asked for one.
            Self::Weights(WeightFormat::Scaled(format)) if format.scaling == Scaling::None => {
                f.pad(format.dtype.name())
            }
            Self::Weights(format) => fmt::Display::fmt(format, f),
            Self::Integers { name, .. } | Self::Opaque { name } => f.pad(&name.to_lowercase()),
        }
    }
}
