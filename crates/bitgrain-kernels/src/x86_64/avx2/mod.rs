//! AVX2, FMA and F16C: 32 codes are `4 * W` bytes, moved with in-lane shuffles and overlapping stores.

mod activations;
mod bin;
mod blocks;
mod convert;
mod dot;
mod error_sums;
mod f32_lanes;
mod floats;
mod ggml;
mod lanes;
mod levels;
mod max_abs;
mod max_difference;
mod minifloat;
mod pack;
mod product;
mod quantize;
mod search;
mod transpose;
mod tree;
mod unpack;

pub(crate) use activations::quantize_activations;
pub(crate) use bin::bin_f32;
pub(crate) use blocks::{decode_blocks, encode_blocks, quantize_pack, unpack_dequantize};
pub(crate) use convert::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
pub(crate) use dot::{dot_blocks, dot_i8};
pub(crate) use error_sums::error_sums;
pub(crate) use floats::{multiply_floats, pack_floats};
pub(crate) use ggml::{dequantize_ggml, round_ggml};
pub(crate) use max_abs::max_abs;
pub(crate) use max_difference::max_difference;
pub(crate) use minifloat::{minifloat_from_f32, minifloat_to_f32};
pub(crate) use pack::{pack_bytes, pack_words};
pub(crate) use product::multiply_strips;
pub(crate) use quantize::{dequantize, quantize};
pub(crate) use search::search;
pub(crate) use tree::{add_leaf_values, symmetric_leaves, tree_leaves};
pub(crate) use unpack::{unpack_bytes, unpack_words};

pub(crate) use super::crc32c::crc32c;

crate::portable::portable_kernels!(avx2);
