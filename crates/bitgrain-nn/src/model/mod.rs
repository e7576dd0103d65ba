//! `Model`: whatever holds tensors, opened: a file, the shards of one, or a folder.

mod bytes;
mod folder;
mod gguf;
mod importance;
mod mapped;
mod metadata;
mod note;
mod open;
mod rows;
mod safetensors;
mod storage;
mod tensor;

pub use importance::Importance;
pub use metadata::Metadata;
pub(crate) use note::{NOTE_KEY, Note};
pub use open::{Container, Model};
pub(crate) use rows::Rows;
pub use storage::Storage;
pub use tensor::Tensor;
