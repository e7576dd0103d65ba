//! Files: containers of tensors, models of trees and tables as text of other people, and the segments of a store.
//!
//! Takes bytes, never a path (but for [`Place`], which is where others write them); a memory-mapped file is read only where its header is. Every length read from a file is
//! held against the bytes at hand before anything is allocated, nothing nests deeper than a constant, and what is wrong
//! comes back as a typed error that names the tensor, key, tree or line. Rules and errors: `spec/containers.md`,
//! `spec/model.md`, `spec/tables.md`, `spec/segment.md`.
//!
//! | module | reads | writes |
//! |---|---|---|
//! | [`gguf`] | versions 2 and 3, little-endian | version 3, as a stream |
//! | [`safetensors`] | one file, and the index of a sharded model | both, the file as a stream |
//! | [`npy`] | versions 1 to 3, numbers and booleans | |
//! | [`npz`] | members stored or deflated | |
//! | [`lightgbm`] | the text of a model, versions 2 to 4 | |
//! | [`xgboost`] | models in JSON and UBJSON | |
//! | [`csv`] | records of fields, quoted or not | |
//! | [`libsvm`] | labels, weights and sparse rows | |
//! | [`segment`] | the files of a tensor store: segments and manifests | both |
//!
//! ```
//! use bitgrain_formats::gguf::{Header, Metadata, TensorSpec, TensorType, Value, Writer};
//! let mut metadata = Metadata::default();
//! metadata.set("general.architecture", "llama");
//! let specs = [TensorSpec { name: "token_embd.weight".into(), dims: vec![32, 2], kind: TensorType::Q4_0 }];
//! let mut writer = Writer::new(Vec::new(), &metadata, &specs)?;
//! writer.write(&[1; 18])?; // one row of 32 weights is a block of 18 bytes
//! writer.write(&[2; 18])?;
//! let file = writer.finish()?;
//!
//! let header = Header::parse(&file)?;
//! assert_eq!(header.metadata.get("general.architecture").and_then(Value::as_str), Some("llama"));
//! assert_eq!(header.tensors[0].shape(), [2, 32]); // outermost first
//! assert_eq!(file[header.tensors[0].range()][..], [[1; 18], [2; 18]].concat());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod csv;
pub mod gguf;
pub mod libsvm;
pub mod lightgbm;
pub mod npy;
pub mod npz;
pub mod safetensors;
pub mod segment;
pub mod xgboost;

mod crc;
mod duplicate;
mod elements;
mod place;
mod stream;
mod write_error;

pub use crc::crc32c;
pub use place::Place;
pub use stream::Layout;
pub use write_error::WriteError;
