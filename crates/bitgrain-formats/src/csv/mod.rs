//! CSV: records of fields, as RFC 4180 writes them. Spec: `spec/tables.md#csv`.
//!
//! [`Records`] walks over bytes and lends their fields; nothing is copied but fields with doubled quotes. What numbers
//! or texts the fields are is for others to say.

mod error;
mod records;

pub use error::CsvError;
pub use records::{Field, Records, line_at};
