//! `Scheme`: an encoding of compressed-tensors, which vLLM, SGLang and Transformers load.

use std::str::FromStr;

use bitgrain_codec::weight::{BlockLen, DType, Parts, ScaledFormat, Scaling, WeightFormat};
use bitgrain_formats::safetensors::{Dtype, TensorSpec};
use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::{e4m3_from_f32, e4m3_to_f32};
use serde_json::{Value, json};

use crate::model::ModelTensor;

/// Encoding of the linear layers of a checkpoint, under the name that llm-compressor gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// 4-bit integers with a scale per 128 weights or another group; activations are floats.
    W4A16,
    /// 8-bit integers with a scale per row; activations are quantized to 8 bits as the model runs.
    W8A8,
    /// FP8 (E4M3) with a scale per row; activations are quantized to FP8 as the model runs.
    Fp8Dynamic,
    /// 4-bit floats with an FP8 scale per 16 weights and a scale per matrix; activations are floats.
    Nvfp4A16,
    /// 4-bit floats with a power of two per 32 weights; activations are floats.
    Mxfp4A16,
}

/// An unknown scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scheme `{name}`; use {}", Scheme::ALL.map(Scheme::name).join(", "))]
pub struct UnknownScheme {
    /// The name.
    pub name: String,
}

/// Largest scale in FP8, and largest 4-bit float.
const MOST: f32 = 448.0 * 6.0;

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 5] = [Self::W4A16, Self::W8A8, Self::Fp8Dynamic, Self::Nvfp4A16, Self::Mxfp4A16];

    /// Returns the name: `W4A16`, `FP8_DYNAMIC`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::W4A16 => "W4A16",
            Self::W8A8 => "W8A8",
            Self::Fp8Dynamic => "FP8_DYNAMIC",
            Self::Nvfp4A16 => "NVFP4A16",
            Self::Mxfp4A16 => "MXFP4A16",
        }
    }

    /// Returns the format that quantizes the weights, with the default group length. Only W4A16 has other lengths.
    #[must_use]
    pub fn format(self) -> ScaledFormat {
        let grouped = |dtype, len| {
            let format = ScaledFormat::new(dtype);
            BlockLen::new(len).map_or(format, |len| format.with_group_len(len))
        };
        match self {
            Self::W4A16 => grouped(DType::Int4, 128),
            Self::W8A8 => ScaledFormat::new(DType::Int8),
            Self::Fp8Dynamic => ScaledFormat::new(DType::Fp8E4M3),
            Self::Nvfp4A16 => grouped(DType::Fp4, 16),
            Self::Mxfp4A16 => grouped(DType::Fp4, 32),
        }
    }

    /// Returns the name of the layout in the configuration.
    const fn layout(self) -> &'static str {
        match self {
            Self::W4A16 => "pack-quantized",
            Self::W8A8 => "int-quantized",
            Self::Fp8Dynamic => "float-quantized",
            Self::Nvfp4A16 => "nvfp4-pack-quantized",
            Self::Mxfp4A16 => "mxfp4-pack-quantized",
        }
    }

    /// Returns the `quantization_config` of a model whose linear layers have this scheme except `ignore`.
    pub(super) fn config(self, format: WeightFormat, ignore: &[String]) -> Value {
        let group = match format {
            WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(len), .. }) => json!(len.get()),
            _ => Value::Null,
        };
        let (bits, kind, strategy) = match self {
            Self::W4A16 => (4, "int", "group"),
            Self::W8A8 => (8, "int", "channel"),
            Self::Fp8Dynamic => (8, "float", "channel"),
            Self::Nvfp4A16 => (4, "float", "tensor_group"),
            Self::Mxfp4A16 => (4, "float", "group"),
        };
        let weights = json!({
            "num_bits": bits, "type": kind, "strategy": strategy, "group_size": group, "symmetric": true, "dynamic": false,
        });
        let activations = match self {
            Self::W8A8 | Self::Fp8Dynamic => json!({
                "num_bits": bits, "type": kind, "strategy": "token", "symmetric": true, "dynamic": true,
            }),
            Self::W4A16 | Self::Nvfp4A16 | Self::Mxfp4A16 => Value::Null,
        };
        json!({
            "quant_method": "compressed-tensors",
            "format": self.layout(),
            "quantization_status": "compressed",
            "config_groups": {
                "group_0": {"targets": ["Linear"], "weights": weights, "input_activations": activations},
            },
            "ignore": ignore,
        })
    }

    /// Returns the arrays of a matrix: codes, scales, and a constant if there is one.
    pub(super) fn arrays(self, tensor: &ModelTensor, format: WeightFormat) -> Vec<TensorSpec> {
        let module = tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name);
        let spec = |end: &str, dtype, shape| TensorSpec { name: format!("{module}{end}"), dtype, shape };
        let (rows, cols) = (tensor.rows(), tensor.cols());
        let groups = match format {
            WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(len), .. }) => cols / len.get() as u64,
            _ => 1,
        };
        let scale = |dtype| spec(".weight_scale", dtype, vec![rows, groups]);
        match self {
            Self::W4A16 => vec![
                spec(".weight_packed", Dtype::I32, vec![rows, cols / 8]),
                scale(Dtype::F32),
                spec(".weight_shape", Dtype::I64, vec![2]),
            ],
            Self::W8A8 => vec![spec(".weight", Dtype::I8, vec![rows, cols]), scale(Dtype::F32)],
            Self::Fp8Dynamic => vec![spec(".weight", Dtype::F8_E4M3, vec![rows, cols]), scale(Dtype::F32)],
            Self::Nvfp4A16 => vec![
                spec(".weight_packed", Dtype::U8, vec![rows, cols / 2]),
                scale(Dtype::F8_E4M3),
                spec(".weight_global_scale", Dtype::F32, vec![1]),
            ],
            Self::Mxfp4A16 => vec![spec(".weight_packed", Dtype::U8, vec![rows, cols / 2]), scale(Dtype::U8)],
        }
    }

    /// Returns the scale of a matrix with this largest magnitude, by which stored scales are divided. A power of two, so
    /// that dequantized weights are exact in bfloat16.
    pub(super) fn factor(self, largest: f32) -> f32 {
        match self {
            Self::Nvfp4A16 if largest > 0.0 => {
                // The exponent of the ratio, without its fraction, in the range of f32.
                let exponent = (f64::from(MOST) / f64::from(largest)).to_bits() >> 52;
                let biased = exponent.saturating_sub(1023 - 127).clamp(7, 247);
                f32::from_bits(u32::try_from(biased).unwrap_or(127) << 23)
            }
            _ => 1.0,
        }
    }

    /// Returns whether scales are limited to some numbers, and the codes depend on the largest weight of the matrix.
    pub(super) const fn rounds_scales(self) -> bool {
        matches!(self, Self::Nvfp4A16 | Self::Mxfp4A16)
    }

    /// Returns the two permitted scales next to `scale`, as f32.
    pub(super) fn round(self, scale: f32, factor: f32) -> [f32; 2] {
        match self {
            Self::Nvfp4A16 => {
                let code = e4m3(scale * factor);
                let near = from_e4m3(code);
                // Codes of positive numbers are ordered like the numbers; 0x7E is the largest.
                let other = if near > scale * factor { code.saturating_sub(1) } else { (code + 1).min(0x7E) };
                [near / factor, from_e4m3(other) / factor]
            }
            Self::Mxfp4A16 => {
                let lower = f32::from_bits((scale.to_bits() & 0x7F80_0000).max(1 << 23));
                [lower, (lower * 2.0).min(f32::from_bits(254 << 23))]
            }
            Self::W4A16 | Self::W8A8 | Self::Fp8Dynamic => [scale; 2],
        }
    }

    /// Returns the codes and scales of some rows as bytes of their arrays.
    pub(super) fn bytes(self, parts: Parts<'_>, factor: f32) -> (Vec<u8>, Vec<u8>) {
        let mut codes = parts.codes.to_vec();
        let floats = || parts.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let scales = match self {
            Self::W4A16 => {
                // Stored with an offset of 8, which flips the sign bit of a two's complement code.
                codes.iter_mut().for_each(|pair| *pair ^= 0x88);
                floats()
            }
            Self::W8A8 | Self::Fp8Dynamic => floats(),
            Self::Nvfp4A16 => parts.scales.iter().map(|scale| e4m3(scale * factor)).collect(),
            Self::Mxfp4A16 => parts.scales.iter().map(|scale| exponent(*scale)).collect(),
        };
        (codes, scales)
    }

    /// Returns the bytes of the constant array of a matrix; empty without one.
    pub(super) fn constant(self, tensor: &ModelTensor, factor: f32) -> Vec<u8> {
        match self {
            Self::W4A16 => [tensor.rows(), tensor.cols()].iter().flat_map(|dim| dim.to_le_bytes()).collect(),
            Self::Nvfp4A16 => factor.to_le_bytes().into(),
            Self::W8A8 | Self::Fp8Dynamic | Self::Mxfp4A16 => Vec::new(),
        }
    }
}

/// Returns the biased exponent of a power of two.
fn exponent(scale: f32) -> u8 {
    u8::try_from(scale.to_bits() >> 23 & 0xFF).unwrap_or(0)
}

fn e4m3(value: f32) -> u8 {
    let mut code = [0];
    // The lengths match, which is the only thing that can be wrong.
    let _ = e4m3_from_f32(Backend::best(), &[value], &mut code);
    code[0]
}

fn from_e4m3(code: u8) -> f32 {
    let mut value = [0.0];
    let _ = e4m3_to_f32(Backend::best(), &[code], &mut value);
    value[0]
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    /// Parses the name, ignoring case.
    fn from_str(name: &str) -> Result<Self, UnknownScheme> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownScheme { name: name.to_owned() })
    }
}

/// Returns whether a tensor is the weight of a linear layer. The output layer, embeddings and the routers of experts stay
/// floats, as other tools and the kernels of inference servers expect.
pub(super) fn is_linear(tensor: &ModelTensor) -> bool {
    let Some(module) = tensor.name.strip_suffix(".weight") else { return false };
    let last = module.rsplit('.').next().unwrap_or(module);
    let embedding = last.contains("embed") || matches!(last, "wte" | "wpe" | "lm_head" | "shared");
    let router = last == "router" || module.ends_with("mlp.gate") || module.ends_with("block_sparse_moe.gate");
    tensor.shape.len() == 2 && !embedding && !router
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for scheme in Scheme::ALL {
            assert_eq!(scheme.name().to_lowercase().parse(), Ok(scheme));
        }
        let error = "W3A3".parse::<Scheme>().expect_err("unknown").to_string();
        assert!(error.contains("W4A16, W8A8, FP8_DYNAMIC"), "{error}");
    }

    #[test]
    fn permitted_scales_surround_the_wanted_one() {
        let [near, other] = Scheme::Nvfp4A16.round(0.3, 64.0);
        assert!((near - 0.3).abs() <= (other - 0.3).abs() && (near - 0.3) * (other - 0.3) <= 0.0, "{near} {other}");
        assert_eq!(Scheme::Mxfp4A16.round(0.3, 1.0), [0.25, 0.5]);
        assert_eq!(Scheme::Mxfp4A16.round(0.0, 1.0)[0], f32::MIN_POSITIVE);
        assert_eq!((exponent(1.0), exponent(0.25)), (127, 125));
        let factor = Scheme::Nvfp4A16.factor(3.0);
        assert!(factor.log2().fract() == 0.0 && 3.0 / 6.0 * factor <= 448.0 && 3.0 / 6.0 * factor * 2.0 > 448.0);
    }
}
