//! Slice primitives for quantization: the only crate of the workspace with `unsafe`.
//!
//! `scalar` defines every result; the AVX2, AVX-512 and AMX backends return the same bits. A [`Backend`] is the proof that
//! the running CPU has an instruction set, so each function takes one and detection happens once per process.
//! No std, no heap, no dependencies but the feature lists of `bitgrain-isa`. The block layouts are written down in `spec/blocks.md` and `spec/ggml.md`.
//!
//! ```
//! use bitgrain_kernels::{Backend, BitWidth, BlockLen, blocks_len, decode_blocks, encode_blocks};
//! let values = [0.5_f32, -1.0, 0.25, 1.0, 0.0, -0.5, 0.75, -0.25];
//! let (width, block) = (BitWidth::W8, BlockLen::new(8)?);
//! let mut bytes = [0; 12];
//! assert_eq!(encode_blocks(Backend::best(), width, block, &values, &mut bytes)?, 12); // 4 of scale, 8 of codes
//! let mut back = [0.0; 8];
//! decode_blocks(Backend::best(), width, block, &bytes, &mut back)?;
//! assert_eq!(back[3], 1.0);
//! assert!((back[0] - 0.5).abs() <= 1.0 / 254.0); // half a step of 1/127
//! # Ok::<(), bitgrain_kernels::KernelError>(())
//! ```
#![no_std]

mod backend;
mod best_cut;
mod bin;
mod blocks;
mod cast;
mod convert;
mod crc32c;
mod dot;
mod error;
mod error_sums;
mod exp;
mod ggml;
mod histogram;
mod logistic;
mod max_abs;
mod max_difference;
mod minifloat;
mod pack;
mod portable;
mod prefetch;
mod product;
mod quantize;
mod round_pairs;
mod rows;
mod scalar;
mod scale;
mod softmax;
mod tree;
mod unpack;
mod width;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use backend::Backend;
pub use best_cut::{CutTerms, best_cut};
pub use bin::{BinCode, bin_f32};
pub use blocks::{decode_blocks, encode_blocks, quantize_pack, unpack_dequantize};
pub use convert::{
    bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
    f16_from_f32, f16_to_f32,
};
pub use crc32c::crc32c;
pub use dot::{dot_blocks, dot_i8};
pub use error::KernelError;
pub use error_sums::{ErrorSums, error_sums};
pub use exp::{exp, sigmoid};
pub use ggml::{GgmlBlock, dequantize_ggml, quantize_ggml};
pub use histogram::{CodeSum, GradientPair, MAX_SLOTS, Pair4, Pair8, PairF32, SLOT_CELLS, Slot, add_pairs};
pub use logistic::logistic_gradients;
pub use max_abs::max_abs;
pub use max_difference::max_difference;
pub use pack::{pack_i8, pack_u8, pack_u16};
pub use prefetch::prefetch;
pub use product::{
    CodeLine, FloatLine, FloatTile, HalfLine, STRIP_BLOCK, STRIP_ROWS, StripBits, StripScales, Strips, Tile,
    multiply_floats, multiply_strips, pack_floats, pack_strip_row, quantize_activations,
};
pub use quantize::{dequantize, quantize};
pub use round_pairs::{PairSteps, round_pairs};
pub use rows::{flag_rows, swap_rows};
pub use scale::block_scale;
pub use softmax::softmax_gradients;
pub use tree::{
    Choice, CodeColumns, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep, add_leaf_values, symmetric_leaves, tree_leaves,
};
pub use unpack::{unpack_i8, unpack_u8, unpack_u16};
pub use width::{BitWidth, BlockLen, SCALE_LEN, UnsignedWidth, blocks_len};
