//! GGUF, the container of llama.cpp: typed metadata and tensors by name. Spec: `spec/containers.md#gguf`.
//!
//! [`Header::parse`] reads versions 2 and 3 and does not touch bytes after the header; [`Writer`] streams version 3.
//! Dimensions are in GGUF order: the contiguous dimension comes first.

mod cursor;
mod error;
mod header;
mod layout;
mod metadata;
mod strings;
mod tensor_info;
mod tensor_type;
mod value;
mod writer;

pub use error::GgufError;
pub use header::Header;
pub use metadata::Metadata;
pub use strings::Strings;
pub use tensor_info::TensorInfo;
pub use tensor_type::TensorType;
pub use value::{Array, Value};
pub use writer::{TensorSpec, Writer, layout};

/// Default tensor alignment in bytes.
pub const DEFAULT_ALIGNMENT: u32 = 32;

/// Metadata key of the tensor alignment.
pub const ALIGNMENT_KEY: &str = "general.alignment";

/// Maximum number of dimensions of a tensor.
pub const MAX_DIMS: usize = 4;

/// Maximum length of a tensor name, in bytes, that llama.cpp loads.
pub const MAX_NAME: usize = 63;

const MAGIC: [u8; 4] = *b"GGUF";
const VERSION: u32 = 3;
