//! NEON backend: the kernels of `generic` with four lanes, the portable loops, and the scalar code for the rest.

mod lanes;

crate::generic::generic_kernels!(baseline, lanes::Neon);
crate::portable::portable_kernels!(baseline);

// Not ported yet: the scalar definitions.
pub(crate) use crate::scalar::{
    add_leaf_values, bin_f32, crc32c, decode_blocks, dequantize, dequantize_ggml, dot_blocks, dot_i8, encode_blocks,
    multiply_floats, multiply_strips, pack_bytes, pack_floats, pack_words, quantize, quantize_activations,
    quantize_pack, round_ggml, unpack_bytes, unpack_dequantize, unpack_words,
};
