//! libsvm, also called svmlight: a label and the features that are not zero, a row to a line. Spec:
//! `spec/tables.md#libsvm`.

mod error;
mod line;
mod rows;

pub use error::LibsvmError;
pub use rows::Rows;
