//! File formats: tensor containers, tables, tree models of other libraries, and the segments of a tensor store.
//!
//! Parsers take bytes and writers a [`Write`](std::io::Write), never a path; of a memory-mapped file only the header is
//! read. Every length read from a file is compared with the bytes left before anything is allocated, nesting depth is
//! bounded, and errors are typed and name the tensor, key, tree or line. Rules and errors: `spec/containers.md`,
//! `spec/model.md`, `spec/tables.md`, `spec/bins.md`, `spec/segment.md`.
//!
//! | module | reads | writes |
//! |---|---|---|
//! | [`gguf`] | versions 2 and 3, little-endian | version 3, as a stream |
//! | [`safetensors`] | one file, and the index of a sharded model | both, the file as a stream |
//! | [`npy`] | versions 1 to 3, numbers and booleans | |
//! | [`npz`] | members stored or deflated | |
//! | [`lightgbm`] | text models, versions 2 to 4 | text, version 4; the JSON of `dump_model` |
//! | [`xgboost`] | JSON and UBJSON models | both |
//! | [`onnx`] | | graphs of operators |
//! | [`csv`] | records of fields, quoted or not | |
//! | [`libsvm`] | labels, weights and sparse rows | |
//! | [`segment`] | the files of a tensor store: segments and manifests | both |
//! | [`bins`] | binned tables | both |
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

pub mod bins;
pub mod csv;
pub mod gguf;
pub mod libsvm;
pub mod lightgbm;
pub mod npy;
pub mod npz;
pub mod onnx;
pub mod safetensors;
pub mod segment;
pub mod xgboost;

mod crc;
mod duplicate;
mod elements;
mod stream;
mod write_error;

pub use crc::crc32c;
pub use stream::Layout;
pub use write_error::WriteError;
