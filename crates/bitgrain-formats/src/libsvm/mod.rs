//! libsvm (svmlight) files: one row per line, a label followed by its nonzero features. Spec:
//! `spec/tables.md#libsvm`.

mod error;
mod line;
mod rows;

pub use error::LibsvmError;
pub use rows::Rows;
