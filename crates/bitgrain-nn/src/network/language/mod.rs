//! Language models from GGUF files: tokenizer, decoder and cache, generation, perplexity and importances.
//!
//! [`LanguageModel`] opens a file and runs it on its quantized weights. Its parts can be used separately: [`Tokenizer`],
//! [`Decoder`] with its [`KeyValueCache`], [`Sampler`]. [`TextCalibration`] measures on a text how to quantize a model.

mod attention;
mod cache;
mod calibration;
mod chat;
mod config;
mod decoder;
mod error;
mod feed_forward;
mod importance;
mod keys;
mod loader;
mod model;
mod pass;
mod perplexity;
mod projection;
mod rotation;
mod sampler;
mod tokenizer;

pub use cache::{CacheFormat, KeyValueCache};
pub use calibration::{CalibrationStage, TextCalibration};
pub use config::Architecture;
pub use decoder::Decoder;
pub use error::LanguageError;
pub use importance::Importances;
pub use model::{Generation, LanguageModel, Stop};
pub use perplexity::{Divergence, Estimate, Perplexity, PerplexityOptions};
pub use sampler::{Sampler, Sampling};
pub use tokenizer::Tokenizer;
