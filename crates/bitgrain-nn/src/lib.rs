//! Model weights on disk: open, inspect, quantize, plan mixed precision and compare; and networks that run on them.
//!
//! [`Model`] opens GGUF, safetensors (one file, sharded, or a Hugging Face folder), npy and npz, and hands out rows of
//! any tensor as f32. Everything else goes through it, in pieces of a few megabytes on every core, so memory stays
//! near the largest tensor whatever the size of the model.
//!
//! | module | what it does |
//! |---|---|
//! | [`convert`] | quantizes a model into a new file and says what that cost |
//! | [`plan`] | chooses a format per tensor from measured errors, for a budget or a quality |
//! | [`compare`] | what is different between two models, tensor by tensor |
//! | [`matrix`] | a matrix in memory to codes and back, on every core |
//! | [`product`] | matrix products on the codes of quantized weights |
//! | [`report`] | a comparison as one HTML page |
//! | [`stats`] | moments and a histogram of a tensor's values |
//! | [`store`] | weights at f32 with quantized versions of them |
//! | [`layer`] | what networks are made of: dense, convolutions, states, attention, norms |
//! | [`network`] | layers with weights: forward in any format, gradients, morphing, comparing |
//! | [`train`] | training at f32: losses, optimizers, early stop |
//! | [`embed`] | sentences to vectors with a BERT, such as all-MiniLM-L6-v2 |
//! | [`observe`] | calibration passes, and importances that follow from them |
//! | [`save`] | networks in JSON and safetensors files |
//! | [`sample`] | real data to try things on, and a network that learned it |
//! | [`trial`] | what each format makes of a network, and what calibration gains |
//!
//! Threads are those of the rayon pool it is called in. Results do not depend on how many there are.

pub mod compare;
pub mod convert;
mod digits;
pub mod embed;
mod error;
pub mod layer;
mod matmul;
pub mod matrix;
mod model;
pub mod network;
pub mod observe;
mod pieces;
pub mod plan;
pub mod product;
pub mod report;
pub mod sample;
pub mod save;
mod size;
pub mod stats;
pub mod store;
pub mod train;
pub mod trial;

pub use digits::digits;
pub use error::ModelError;
pub use model::{Container, Importance, Metadata, Model, Storage, Tensor, bits_per_weight};
pub use network::Network;
pub use pieces::Progress;
pub use size::Size;
pub use store::WeightStore;
