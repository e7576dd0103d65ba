//! Errors of the ONNX reader.

/// Reason why bytes are not a readable ONNX model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// A message that ends inside a field.
    #[error("not an ONNX model, or a truncated one: a field at offset {offset} exceeds its message")]
    Truncated {
        /// Offset of the field in the file.
        offset: u64,
    },
    /// A field with an encoding that protocol buffers do not have, or that ONNX does not use.
    #[error("not an ONNX model: wire type {wire} at offset {offset}")]
    WireType {
        /// Offset of the field in the file.
        offset: u64,
        /// The wire type.
        wire: u8,
    },
    /// A model without a graph.
    #[error("not an ONNX model: it has no graph")]
    NoGraph,
    /// Two initializers of the same name.
    #[error("duplicate initializer `{name}`")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// An element type that ONNX does not define.
    #[error("initializer `{name}`: unknown element type {code}")]
    ElementType {
        /// Name of the initializer.
        name: String,
        /// Number of the type.
        code: u64,
    },
    /// A shape with negative or huge dimensions.
    #[error("initializer `{name}`: shape {shape:?} is out of range")]
    Shape {
        /// Name of the initializer.
        name: String,
        /// The dimensions.
        shape: Vec<i64>,
    },
    /// Data that do not have the size of the shape.
    #[error("initializer `{name}`: its shape requires {needed} bytes, found {found}")]
    Size {
        /// Name of the initializer.
        name: String,
        /// Required number of bytes.
        needed: u64,
        /// Number of bytes in the file.
        found: u64,
    },
    /// A reference to another file that is not a plain path in the folder of the model.
    #[error("initializer `{name}`: external data in `{location}`, expected a relative path in the folder of the model")]
    Location {
        /// Name of the initializer.
        name: String,
        /// The path.
        location: String,
    },
}
