//! Definition of every primitive, in portable safe Rust. Also the backend of CPUs without vector kernels, and of WebAssembly without `simd128`.

mod activations;
mod best_cut;
mod bin;
mod blocks;
mod convert;
mod crc32c;
mod dot;
pub(crate) mod elements;
mod error_sums;
mod exp;
mod floats;
mod fused;
mod ggml;
mod lanes;
mod logistic;
mod mark_rows;
mod max_abs;
mod max_difference;
mod minifloat;
mod pack;
mod planes;
mod product;
mod quantize;
mod round_pairs;
mod scale_search;
mod score_rows;
mod softmax;
mod sqrt;
mod sum_signs;
mod tree;
mod unpack;

pub(crate) use activations::quantize_activations;
pub(crate) use best_cut::cut_worths;
pub(crate) use bin::bin_f32;
/// Functions with which vector backends process the remainder of a slice.
#[cfg(target_arch = "x86_64")]
pub(crate) use bin::{search as search_cuts, store as store_bins};
pub(crate) use blocks::{decode_blocks, encode_blocks, quantize_pack, unpack_dequantize};
pub(crate) use convert::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_of, f16_to_f32, f32_of};
pub(crate) use crc32c::crc32c;
pub(crate) use dot::{dot_blocks, dot_i8};
pub(crate) use elements::{element_weight, multiply_elements};
pub(crate) use error_sums::error_sums;
pub(crate) use exp::{exp, sigmoid};
pub(crate) use floats::{multiply_floats, pack_floats};
/// The only fused multiply-add without an instruction.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use fused::mul_add;
pub(crate) use ggml::{dequantize_ggml, round_ggml};
pub(crate) use lanes::Portable;
pub(crate) use logistic::logistic_gradients;
pub(crate) use mark_rows::mark_rows;
pub(crate) use max_abs::max_abs;
pub(crate) use max_difference::max_difference;
pub(crate) use minifloat::{minifloat_from_f32, minifloat_to_f32};
pub(crate) use pack::{pack_bytes, pack_words};
pub(crate) use planes::multiply_planes;
pub(crate) use product::multiply_strips;
pub(crate) use quantize::{dequantize, quantize};
pub(crate) use round_pairs::round_pairs;
pub(crate) use scale_search::scale_search;
pub(crate) use score_rows::{score_f32_rows, score_rows};
pub(crate) use softmax::softmax_gradients;
pub(crate) use sqrt::sqrt;
pub(crate) use sum_signs::sum_signs;
pub(crate) use tree::{add_leaf_values, symmetric_leaves, tree_leaves, two_tree_leaves};
pub(crate) use unpack::{unpack_bytes, unpack_words};
/// Functions with which all vector backends process the remainder of a slice.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use {
    activations::quantize_block,
    blocks::{quantize_pack_run, unpack_dequantize_run},
    dot::lane_sums,
    floats::pack_columns,
    pack::{pack_run, pack_words_run},
    unpack::{unpack_run, unpack_words_run},
};
/// Loops that every vector backend compiles again.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use {
    error_sums::ErrorLanes,
    exp::{exp_each, sigmoid_each},
    logistic::logistic_gradients_each,
    softmax::softmax_gradients_each,
};
