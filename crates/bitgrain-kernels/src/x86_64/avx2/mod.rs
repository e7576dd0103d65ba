//! AVX2, FMA and F16C: 32 codes are `4 * W` bytes, moved with in-lane shuffles and overlapping stores.

mod best_cut;
mod bin;
mod blocks;
mod convert;
mod dot;
mod error_sums;
mod exp;
mod f32_lanes;
mod ggml;
mod lanes;
mod levels;
mod logistic;
mod max_abs;
mod minifloat;
mod pack;
mod quantize;
mod round_pairs;
mod search;
mod softmax;
mod transpose;
mod tree;
mod unpack;

pub(crate) use best_cut::cut_worths;
pub(crate) use bin::bin_f32;
pub(crate) use blocks::{decode_blocks, encode_blocks, quantize_pack, unpack_dequantize};
pub(crate) use convert::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
pub(crate) use dot::{dot_blocks, dot_i8};
pub(crate) use error_sums::error_sums;
pub(crate) use exp::{exp, sigmoid};
pub(crate) use ggml::{dequantize_ggml, round_ggml};
pub(crate) use logistic::logistic_gradients;
pub(crate) use max_abs::max_abs;
pub(crate) use minifloat::{minifloat_from_f32, minifloat_to_f32};
pub(crate) use pack::{pack_bytes, pack_words};
pub(crate) use quantize::{dequantize, quantize};
pub(crate) use round_pairs::round_pairs;
pub(crate) use search::search;
pub(crate) use softmax::softmax_gradients;
pub(crate) use tree::{add_leaf_values, symmetric_leaves, tree_leaves};
pub(crate) use unpack::{unpack_bytes, unpack_words};

pub(crate) use super::crc32c::crc32c;
