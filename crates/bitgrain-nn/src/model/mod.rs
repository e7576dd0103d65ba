//! Model files: open, inspect, quantize, plan mixed precision, compare and report.
//!
//! [`ModelFile`] opens GGUF, safetensors (one file, shards, or a Hugging Face folder), npy and npz, and decodes rows of
//! any tensor to f32. The other modules read tensors through it in pieces of half a megabyte on every core, so peak
//! memory is close to the size of the largest tensor.
//!
//! | module | contents |
//! |---|---|
//! | [`convert`] | quantizes a model into a new file and measures the error |
//! | [`plan`] | chooses a format per tensor from measured errors, for a size budget or an error target |
//! | [`language`] | converts a Hugging Face folder of a language model to GGUF |
//! | [`compare`] | differences between two models, tensor by tensor |
//! | [`report`] | a comparison as one HTML page |
//! | [`stats`] | moments and a histogram of a tensor's values |

mod adapter;
mod checkpoint;
pub mod compare;
pub mod convert;
mod error;
mod file;
mod importance;
pub mod language;
mod pieces;
pub mod plan;
pub mod report;
pub mod stats;

pub use adapter::{AdapterError, merge as merge_adapter};
pub use checkpoint::CheckpointError;
pub use error::ModelFileError;
pub use file::{Container, ModelFile, ModelMetadata, ModelTensor, TensorEncoding, bits_per_weight};
pub(crate) use file::{
    Entry, INDEX_ENDING, NOTE_KEY, Note, RowOrder, Rows, SCALES, SPLIT_COUNT, SPLIT_NO, SPLIT_TENSORS, View, ZEROS,
    dtype_of, tensor_type,
};
pub use importance::ImportanceMatrix;
pub use pieces::Progress;
