//! A table of preformatted cells: times, sizes and qualities.

use serde_json::Value;

/// A table of preformatted cells.
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) note: String,
    /// Header and rows, all of the same length.
    pub(crate) cells: Vec<Vec<String>>,
    /// The same data as JSON, unrounded.
    pub(crate) value: Value,
}
