//! GGUF, the container of llama.cpp: typed metadata and tensors by name. Spec: `spec/containers.md#gguf`.
//!
//! [`Header::parse`] reads versions 2 and 3 from the bytes of a whole file and touches nothing behind the header;
//! [`Writer`] writes version 3 as a stream. Dimensions are in GGUF's order, the contiguous one first.

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
pub use writer::{TensorSpec, Writer};

/// Alignment of tensors if `general.alignment` does not say.
pub const DEFAULT_ALIGNMENT: u32 = 32;

/// The key that says how tensors are aligned.
pub const ALIGNMENT_KEY: &str = "general.alignment";

/// Dimensions a tensor can have.
pub const MAX_DIMS: usize = 4;

/// Bytes that the name of a tensor can have in a file that llama.cpp loads.
pub const MAX_NAME: usize = 63;

const MAGIC: [u8; 4] = *b"GGUF";
const VERSION: u32 = 3;
