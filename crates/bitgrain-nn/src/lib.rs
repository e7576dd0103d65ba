//! Model weights: model files, and networks that run on quantized weights.
//!
//! | module | contents |
//! |---|---|
//! | [`model`] | model files: open, inspect, quantize, plan mixed precision, compare, report |
//! | [`network`] | networks: layers, weights in any format, training, calibration, files, sentence embeddings, products on codes |
//!
//! Work runs on the threads of the current rayon pool. Results do not depend on the number of threads.

pub mod model;
pub mod network;

pub use model::{
    Container, ImportanceMatrix, ModelFile, ModelFileError, ModelTensor, Progress, TensorEncoding, bits_per_weight,
};
pub use network::{Network, NetworkError, embed::SentenceEncoder, weights::WeightStore};
