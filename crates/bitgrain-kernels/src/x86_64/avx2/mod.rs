//! AVX2, FMA and F16C: 32 codes are `4 * W` bytes, moved with in-lane shuffles and overlapping stores.

mod activations;
mod bin;
mod blocks;
mod dot;
mod floats;
mod ggml;
mod lanes;
mod levels;
mod max_abs;
mod memory;
mod pack;
mod planes;
mod product;
mod quantize;
mod score_rows;
mod sum_signs;
mod transpose;
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
pub(crate) use score_rows::score_rows;
pub(crate) use sum_signs::sum_signs;
pub(crate) use unpack::{unpack_bytes, unpack_words};

pub(crate) use super::crc32c::crc32c;

crate::generic::generic_kernels!(avx2, lanes::Avx2);
crate::generic::elements::element_kernels!(avx2, lanes::Avx2, 8);
crate::portable::portable_kernels!(avx2);

// The scalar definition instead of gathers, whose cost depends on the microcode since the Downfall mitigation.
crate::generic::shims! { avx2;
    add_leaf_values(values: &[f64], leaves: &[u8], sums: &mut [f64]) =
        crate::scalar::add_leaf_values(values, leaves, sums);
}
