//! A table whose cells are ready to print: times, sizes and qualities side by side.

use serde_json::Value;

/// The sheet.
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) note: String,
    /// The header and the rows, all of one length.
    pub(crate) cells: Vec<Vec<String>>,
    /// The same for machines, unrounded.
    pub(crate) value: Value,
}
