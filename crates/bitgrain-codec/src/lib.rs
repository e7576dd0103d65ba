//! Quantization codec: codes, scales, blocks, weight formats and error bounds.
//!
//! Pure: no I/O, no clock, no threads, no `unsafe`; `no_std` with `alloc`. The kernels underneath do the arithmetic.
//! Byte layouts are specified in `spec/blocks.md`.
//!
//! Encode and decode tensors as contiguous bytes with [`BlockFormat`]:
//!
//! ```
//! use bitgrain_codec::{BitWidth, BlockFormat, bound};
//! let values: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.1).sin()).collect();
//! let format = BlockFormat::new(BitWidth::W5);
//! let bytes = format.encode(&values)?;
//! assert_eq!(bytes.len(), 15 * 44 + 4 + 25); // fifteen full blocks of 64, one of 40
//! let back = format.decode(&bytes, values.len())?;
//! let worst = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
//! assert!(worst <= bound(BitWidth::W5, 1.0)); // 1/30 of the largest value
//! # Ok::<(), bitgrain_codec::CodecErr>(())
//! ```
//!
//! [`quantize_bits`] and [`QuantizedBlock`] expose the same codes block by block, for inspection.
#![no_std]

extern crate alloc;

mod bound;
mod codec_bits;
mod codes;
mod error;
mod fidelity;
mod format;
mod non_finite;
mod quant;
pub mod random;
mod scale_type;
mod two_level;
pub mod weight;

pub use bitgrain_kernels::blocks::block_scale;
pub use bitgrain_kernels::{BitWidth, BlockLen};
pub use bound::{Drift, bound, bound_of_scale, bound_with_drift, scale_fits};
pub use codec_bits::{BitCodec, StandardBitCodec, pack_bits, unpack_bits};
pub use codes::{block_maxima, decode_codes, encode_codes};
pub use error::CodecErr;
pub use fidelity::Fidelity;
pub use format::{BlockFormat, EncodeOptions};
pub use non_finite::NonFinite;
pub use quant::{
    BlockQuantizer, QuantConfig, QuantizedBlock, TensorQuantizer, dequantize, max_abs, quantize_bits, quantize_s8,
};
pub use scale_type::ScaleType;
pub use two_level::TwoLevel;
