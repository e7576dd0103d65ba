//! ONNX models: a writer of graphs (IR version 10, operator sets 18 and `ai.onnx.ml` 5), and a reader of constants and
//! operators of any version.
//!
//! The messages are written and read by hand: a few dozen fields of onnx.proto are needed, for which generated code would
//! take a code generator at build time and more lines than this module.
//!
//! ```
//! use bitgrain_formats::onnx::{Graph, Node, Tensor, TensorInfo, TensorKind};
//! let graph = Graph {
//!     name: "square".into(),
//!     nodes: vec![Node::new("Mul", &["x", "x"], "y")],
//!     initializers: vec![],
//!     inputs: vec![TensorInfo::new("x", TensorKind::F64, &[None, Some(1)])],
//!     outputs: vec![TensorInfo::new("y", TensorKind::F64, &[None, Some(1)])],
//! };
//! assert_eq!(graph.to_model(&[])[..2], [8, 10]); // field 1, the IR version
//! ```

mod error;
mod fields;
mod graph;
mod message;
mod model;
mod tensor;

pub use error::OnnxError;
pub use graph::{Attribute, Graph, Node, TensorInfo};
pub use model::{Data, Element, Initializer, Model, Operator};
pub use tensor::{Tensor, TensorKind};
