//! Slice primitives for quantization and gradient boosting; contains nearly all `unsafe` code of the workspace.
//!
//! `scalar` defines every result; the AVX2, AVX-512, AMX, NEON and wasm `simd128` backends return the same bits. A [`Backend`] proves
//! that the running CPU has an instruction set, so each function takes one, and detection happens once per process. No
//! std, heap or dependencies except the feature lists of `bitgrain-isa`. Block layouts: `spec/blocks.md`, `spec/ggml.md`.
//!
//! ```
//! use bitgrain_kernels::{Backend, BitWidth, BlockLen, blocks::{decode_blocks, encode_blocks}};
//! let values = [0.5_f32, -1.0, 0.25, 1.0, 0.0, -0.5, 0.75, -0.25];
//! let (width, block) = (BitWidth::W8, BlockLen::new(8)?);
//! let (mut bytes, mut back) = ([0; 12], [0.0; 8]);
//! assert_eq!(encode_blocks(Backend::best(), width, block, &values, &mut bytes)?, 12); // 4 of scale, 8 of codes
//! decode_blocks(Backend::best(), width, block, &bytes, &mut back)?;
//! assert!(back[3] == 1.0 && (back[0] - 0.5).abs() <= 1.0 / 254.0); // half a step of 1/127
//! # Ok::<(), bitgrain_kernels::KernelError>(())
//! ```
#![no_std]

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64;
mod backend;
mod best_cut;
mod bin;
pub mod blocks;
mod cast;
mod convert;
mod crc32c;
mod dot;
mod error;
mod error_sums;
mod exp;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod generic;
pub mod ggml;
mod histogram;
mod lanes;
mod logistic;
mod mark_rows;
mod max_abs;
mod max_difference;
mod minifloat;
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod narrow;
mod pack;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod portable;
mod prefetch;
pub mod product;
mod quantize;
mod round_pairs;
mod rows;
mod scalar;
mod scale;
mod score_rows;
mod softmax;
mod sum_signs;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod tail;
mod tree;
mod unpack;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
mod width;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use backend::Backend;
pub use crc32c::crc32c;
pub use error::KernelError;
pub use error_sums::{ErrorSums, error_sums};
pub use max_abs::max_abs;
pub use max_difference::max_difference;
pub use prefetch::prefetch;
pub use width::{BitWidth, BlockLen, UnsignedWidth};

pub mod codes {
    //! Codes without a container: rounding to a scale, packing at 1 to 16 bits, integer dot products.

    pub use crate::dot::dot_i8;
    pub use crate::pack::{pack_i8, pack_u8, pack_u16};
    pub use crate::quantize::{dequantize, quantize};
    pub use crate::unpack::{unpack_i8, unpack_u8, unpack_u16};
}

pub mod floats {
    //! Element-wise float functions: conversions from and to 16, 8 and 4 bits, exponential and logistic sigmoid.

    pub use crate::convert::{
        bf16_from_f32, bf16_to_f32, e2m1_from_f32, e2m1_to_f32, e4m3_from_f32, e4m3_to_f32, e5m2_from_f32, e5m2_to_f32,
        f16_from_f32, f16_to_f32,
    };
    pub use crate::exp::{exp, sigmoid};
}

pub mod bins {
    //! Bin codes of feature values, for gradient boosting.

    pub use crate::bin::{BinCode, Cuts, bin_f32};
}

pub mod gradients {
    //! Gradients and hessians of losses, and their rounding to pairs of small integers.

    pub use crate::logistic::logistic_gradients;
    pub use crate::round_pairs::{PairSteps, round_pairs};
    pub use crate::softmax::softmax_gradients;
}

pub mod histograms {
    //! Growth of one tree: partitioning of rows, sums of gradient pairs per bin, the best cut of a feature.

    pub use crate::best_cut::{CutTerms, best_cut};
    pub use crate::histogram::{CodeSum, GradientPair, MAX_SLOTS, Pair4, Pair8, PairF32, SLOT_CELLS, Slot, add_pairs};
    pub use crate::rows::{flag_rows, swap_rows};
}

pub mod search {
    //! Scores of encoded rows against queries, for nearest-neighbor search.

    pub use crate::mark_rows::{RowCondition, mark_rows};
    pub use crate::score_rows::{
        LINE, MAX_PLANES, QueryLine, RowLayout, RowQuery, StartLine, score_f32_rows, score_rows,
    };
    pub use crate::sum_signs::{SIGN_GROUP, SIGNS_PER_TABLE, set_signs, sign_group_bytes, sign_tables, sum_signs};
}

pub mod trees {
    //! Evaluation of trees on bin codes, many rows per instruction.

    pub use crate::tree::{
        CodeColumns, Operand, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep, TreeSteps, add_leaf_values,
        symmetric_leaves, tree_leaves, two_tree_leaves,
    };
}
