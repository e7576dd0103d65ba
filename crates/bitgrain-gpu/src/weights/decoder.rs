//! `Decoder`: the part of a shader that unpacks eight weights of a format.

use bitgrain_codec::weight::{DType, GgmlBlock, ScaledFormat, WeightFormat};

/// Shader code that unpacks a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoder {
    /// Name of the format.
    pub(crate) name: &'static str,
    /// Definitions, of which the last is `fn run(row, start)`.
    parts: &'static [&'static str],
}

/// Access to the arrays of a matrix.
const ACCESS: &str = include_str!("../shaders/weights.wgsl");

macro_rules! decoder {
    ($name:expr; $($file:literal),+) => {
        Some(Decoder { name: $name, parts: &[$(include_str!(concat!("../shaders/decode/", $file, ".wgsl"))),+] })
    };
}

impl Decoder {
    /// Returns the decoder of a format; `None` for formats that are uploaded as f32.
    pub(crate) fn of(format: WeightFormat) -> Option<Self> {
        let name = format.name();
        match format {
            WeightFormat::Scaled(ScaledFormat { dtype, .. }) => Self::of_dtype(dtype),
            WeightFormat::Q4F32 => decoder!(name; "q4f32"),
            WeightFormat::Codebook(_) => None,
            WeightFormat::Ggml(block) => match block {
                GgmlBlock::Q4_0 => decoder!(name; "q4_0"),
                GgmlBlock::Q4_1 => decoder!(name; "q4_1"),
                GgmlBlock::Q5_0 => decoder!(name; "q5_0"),
                GgmlBlock::Q5_1 => decoder!(name; "q5_1"),
                GgmlBlock::Q8_0 => decoder!(name; "q8_0"),
                GgmlBlock::Q2_K => decoder!(name; "q2_k"),
                GgmlBlock::Q3_K => decoder!(name; "q3_k"),
                GgmlBlock::Q4_K => decoder!(name; "six_bits", "q4_k"),
                GgmlBlock::Q5_K => decoder!(name; "six_bits", "q5_k"),
                GgmlBlock::Q6_K => decoder!(name; "q6_k"),
                GgmlBlock::IQ4_NL => decoder!(name; "iq4_nl"),
                GgmlBlock::TQ1_0 => decoder!(name; "tq1_0"),
                GgmlBlock::TQ2_0 => decoder!(name; "tq2_0"),
                GgmlBlock::MXFP4 => decoder!(name; "mxfp4"),
            },
        }
    }

    fn of_dtype(dtype: DType) -> Option<Self> {
        let name = dtype.name();
        match dtype {
            DType::Float64 => decoder!(name; "float64"),
            DType::Float32 => decoder!(name; "float32"),
            DType::Float16 => decoder!(name; "float16"),
            DType::BFloat16 => decoder!(name; "bfloat16"),
            DType::Fp8E4M3 => decoder!(name; "e4m3", "bytes"),
            DType::Fp8E5M2 => decoder!(name; "e5m2", "bytes"),
            DType::Fp4 => decoder!(name; "fp4", "nibbles"),
            DType::Int64 => decoder!(name; "int64"),
            DType::Int32 => decoder!(name; "int32"),
            DType::Int16 => decoder!(name; "int16"),
            DType::Int8 => decoder!(name; "int8", "bytes"),
            DType::Int4 => decoder!(name; "int4", "nibbles"),
            DType::Int2 | DType::Ternary => decoder!(name; "int2"),
            DType::Uint64 => decoder!(name; "uint64"),
            DType::Uint32 => decoder!(name; "zeros", "uint32"),
            DType::Uint16 => decoder!(name; "zeros", "uint16"),
            DType::Uint8 => decoder!(name; "zeros", "uint8"),
            DType::Uint4 => decoder!(name; "zeros", "uint4"),
            DType::Uint2 => decoder!(name; "zeros", "uint2"),
            DType::Binary => decoder!(name; "binary"),
        }
    }

    /// Returns the source of a kernel on weights of this format.
    pub(crate) fn with(self, kernel: &str) -> String {
        let parts = std::iter::once(ACCESS).chain(self.parts.iter().copied()).chain([kernel]);
        parts.collect::<Vec<_>>().join("\n")
    }
}
