//! `Model`: whatever holds tensors, opened: a file, the shards of one, or a folder.

mod bytes;
mod folder;
mod gguf;
mod importance;
mod mapped;
mod memory;
mod metadata;
mod note;
mod numpy;
mod open;
mod rows;
mod safetensors;
mod storage;
mod tensor;
mod typed;

pub(crate) use gguf::tensor_type;
pub use importance::Importance;
pub use metadata::Metadata;
pub(crate) use note::{Entry, NOTE_KEY, Note, SCALES, ZEROS};
pub(crate) use open::INDEX_ENDING;
pub use open::{Container, Model};
pub(crate) use rows::Rows;
pub(crate) use safetensors::dtype_of;
pub use storage::Storage;
pub use tensor::{Tensor, bits_per_weight};
