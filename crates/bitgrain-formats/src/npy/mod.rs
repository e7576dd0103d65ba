//! npy, NumPy's single-array file: a Python literal as header, then the elements. Spec: `spec/containers.md#npy`.
//!
//! [`Header::parse`] reads versions 1, 2 and 3 with numbers and booleans of either byte order. Python objects, complex
//! numbers, strings, dates and structured arrays are refused by name; nothing is ever unpickled. [`f32_header`] writes
//! f32.

mod dtype;
mod error;
mod header;
mod literal;
mod writer;

pub use dtype::{ByteOrder, Dtype, Element};
pub use error::NpyError;
pub use header::Header;
pub use writer::f32_header;
