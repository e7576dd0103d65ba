//! A quantization engine for machine learning. This crate re-exports its parts.
//!
//! | module | contents |
//! |---|---|
//! | [`codec`] | quantized numbers: widths, scales, blocks, error bounds |
//! | [`files`] | files mapped for reading and replaced atomically |
//! | [`formats`] | containers: GGUF, safetensors, npy, npz; tables; models of other libraries |
//! | [`gbdt`] | gradient-boosted trees: tables, bins, training, models, prediction |
//! | [`store`] | tensor store: tiers, frames, reconstruction, crash safety |
//! | [`nn`] | model weights: open, inspect, quantize, compare; networks that run on them |
//! | [`kernels`] | slice primitives for all instruction sets of the CPU |
//! | `gpu` | packed weights, networks and histograms on GPUs |
//!
//! `gbdt`, `nn` and `store` are features, all on by default, and so is `csv`, which adds CSV and libsvm files to `gbdt`.
//! `parquet` reads Parquet files without zstd, and `table` adds zstd and Parquet output; both are off because their
//! dependency is slow to build. `gpu` runs networks on GPUs and is off for the same reason. With `default-features = false`, only the codec, the kernels and the containers are built:
//! enough to encode tensors.
//!
//! ```
//! use bitgrain::codec::{BitWidth, BlockFormat, Fidelity};
//! let values: Vec<f32> = (0..4096).map(|i| (i as f32 * 0.01).sin()).collect();
//! let format = BlockFormat::new(BitWidth::W4);
//! let bytes = format.encode(&values)?;
//! let back = format.decode(&bytes, values.len())?;
//! assert_eq!(bytes.len(), 4096 / 64 * 36); // 7.1 times smaller than f32
//! let cost = Fidelity::measure(&values, &back)?;
//! assert!(cost.max_error <= f64::from(format.bound(&bytes, values.len())?)); // the bound is a guarantee
//! # Ok::<(), bitgrain::codec::CodecErr>(())
//! ```
#![no_std]

pub use {bitgrain_codec as codec, bitgrain_files as files, bitgrain_formats as formats, bitgrain_kernels as kernels};

#[cfg(feature = "gbdt")]
pub use bitgrain_gbdt as gbdt;
#[cfg(feature = "gpu")]
pub use bitgrain_gpu as gpu;
#[cfg(feature = "nn")]
pub use bitgrain_nn as nn;
#[cfg(feature = "store")]
pub use bitgrain_store as store;

/// Runs the examples of the README and the guide as tests.
#[cfg(all(doctest, feature = "csv", feature = "nn", feature = "store"))]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide/encode-a-tensor.md")]
    struct EncodeATensor;
    #[doc = include_str!("../../../docs/guide/quantize-a-model.md")]
    struct QuantizeAModel;
    #[doc = include_str!("../../../docs/guide/keep-tensors.md")]
    struct KeepTensors;
    #[doc = include_str!("../../../docs/guide/run-a-network.md")]
    struct RunANetwork;
    #[doc = include_str!("../../../docs/guide/embed-sentences.md")]
    struct EmbedSentences;
    #[doc = include_str!("../../../docs/guide/train-on-a-table.md")]
    struct TrainOnATable;
}
