//! safetensors, Hugging Face's container: a JSON header followed by the tensor data. Spec:
//! `spec/containers.md#safetensors`.
//!
//! [`Header::parse`] reads a file, [`Index::parse`] the index of a sharded model; [`Writer`] streams a file.
//! Shapes are outermost first, data is little-endian and row-major.

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
pub use writer::{TensorSpec, Writer, layout, order};

/// Maximum size of a header in bytes, as in the reference implementation.
pub const MAX_HEADER: u64 = 100_000_000;

/// Header key of the metadata.
pub const METADATA_KEY: &str = "__metadata__";
