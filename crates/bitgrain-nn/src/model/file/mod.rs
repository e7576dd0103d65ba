//! `ModelFile`: an open model, from a single file, shards or a folder.

mod bytes;
mod encoding;
mod folder;
mod gguf;
mod memory;
mod metadata;
mod note;
mod numpy;
mod onnx;
mod open;
mod rows;
mod safetensors;
mod split;
mod tensor;
mod typed;
mod view;

pub(crate) use bytes::{Bytes, Loaded};
pub use encoding::TensorEncoding;
pub(crate) use gguf::tensor_type;
pub use metadata::ModelMetadata;
pub(crate) use note::{Entry, NOTE_KEY, Note, SCALES, ZEROS};
pub(crate) use open::INDEX_ENDING;
pub use open::{Container, ModelFile};
pub(crate) use rows::Rows;
pub(crate) use safetensors::dtype_of;
pub(crate) use split::{SPLIT_COUNT, SPLIT_NO, SPLIT_TENSORS};
pub use tensor::{ModelTensor, bits_per_weight};
pub(crate) use view::{RowOrder, View};
