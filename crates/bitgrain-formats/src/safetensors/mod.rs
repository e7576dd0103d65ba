//! safetensors, the container of Hugging Face: a JSON header and the bytes it covers. Spec:
//! `spec/containers.md#safetensors`.
//!
//! [`Header::parse`] reads a file, [`Index::parse`] the list of files that a sharded model consists of, [`Writer`]
//! writes a file as a stream. Shapes are outermost first, data is little-endian and row-major.

mod dtype;
mod error;
mod header;
mod index;
mod json;
mod layout;
mod writer;

pub use dtype::Dtype;
pub use error::SafetensorsError;
pub use header::{Header, TensorInfo};
pub use index::Index;
pub use writer::{TensorSpec, Writer, order};

/// Bytes a header can have at most, as in the reference.
pub const MAX_HEADER: u64 = 100_000_000;

/// The key that is not a tensor.
pub const METADATA_KEY: &str = "__metadata__";
