//! CSV records and fields, as in RFC 4180. Spec: `spec/tables.md#csv`.
//!
//! [`Records`] iterates over bytes and borrows their fields; only fields with doubled quotes are copied. The caller
//! distinguishes numbers from strings.

mod error;
mod records;

pub use error::CsvError;
pub use records::{Field, Records, line_at};
