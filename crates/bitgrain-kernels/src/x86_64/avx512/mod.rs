//! AVX-512 with VBMI: 64 codes are exactly `8 * W` bytes, so one register holds a block's codes packed or unpacked.

mod activations;
mod bin;
mod blocks;
mod dot;
mod floats;
mod ggml;
mod lanes;
mod levels;
mod max_abs;
pub(super) mod memory;
mod pack;
mod planes;
mod product;
mod quantize;
mod rows;
mod score_rows;
mod sum_signs;
mod transpose;
mod tree;
mod unpack;

pub(crate) use activations::quantize_activations;
pub(crate) use bin::bin_f32;
pub(crate) use blocks::{decode_blocks, encode_blocks, quantize_pack, unpack_dequantize};
pub(crate) use dot::{dot_blocks, dot_i8};
pub(crate) use floats::{multiply_floats, pack_floats};
pub(crate) use ggml::{dequantize_ggml, round_ggml};
pub(crate) use pack::{pack_bytes, pack_words};
pub(crate) use planes::multiply_planes;
pub(crate) use product::multiply_strips;
pub(crate) use quantize::{dequantize, quantize};
pub(crate) use rows::flag_rows;
pub(crate) use score_rows::score_rows;
pub(crate) use sum_signs::sum_signs;
pub(crate) use tree::add_leaf_values;
pub(crate) use unpack::{unpack_bytes, unpack_words};

pub(crate) use super::crc32c::crc32c;

crate::generic::generic_kernels!(avx512, lanes::Avx512);
crate::generic::elements::element_kernels!(avx512, lanes::Avx512, 16);
crate::portable::portable_kernels!(avx512);
