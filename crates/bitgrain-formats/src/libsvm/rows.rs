//! `Rows`: all lines of a file as compressed sparse rows.

use super::{LibsvmError, line};

/// Rows of a libsvm file. Indices are kept as in the file: if they are 1-based, feature 0 is always absent.
///
/// ```
/// use bitgrain_formats::libsvm::Rows;
/// let rows = Rows::parse(b"+1 1:0.5 3:2 # first\n-1 2:1e3\n")?;
/// assert_eq!(rows.labels, [1.0, -1.0]);
/// assert_eq!(rows.row_ptr, [0, 2, 3]);
/// assert_eq!(rows.columns, [1, 3, 2]);
/// assert_eq!(rows.values, [0.5, 2.0, 1000.0]);
/// assert_eq!(rows.n_features, 4);
/// # Ok::<(), bitgrain_formats::libsvm::LibsvmError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Label of each row.
    pub labels: Vec<f64>,
    /// Weight of each row, if labels have weights (`1:0.3`).
    pub weights: Option<Vec<f32>>,
    /// Query of each row, if the lines have `qid`.
    pub queries: Option<Vec<u64>>,
    /// Start offset of each row's entries, followed by the end of the last row.
    pub row_ptr: Vec<usize>,
    /// Feature index of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f32>,
    /// Largest index plus 1.
    pub n_features: usize,
}

impl Rows {
    /// Largest supported index. The cost of a table grows with its number of features, not with the size of the file,
    /// so the index is bounded.
    pub const MAX_INDEX: u32 = (1 << 24) - 1;

    /// Features allowed regardless of the number of entries, and the additional features allowed per entry: every feature
    /// costs memory, and a one-line file can name the largest index.
    const FEATURES: usize = 1 << 14;
    const FEATURES_PER_ENTRY: usize = 64;

    /// Parses a complete file.
    ///
    /// # Errors
    /// Returns a [`LibsvmError`] with its line number.
    pub fn parse(data: &[u8]) -> Result<Self, LibsvmError> {
        let mut rows = Self {
            labels: Vec::new(),
            weights: None,
            queries: None,
            row_ptr: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            n_features: 0,
        };
        for (number, text) in (1..).zip(data.split(|byte| *byte == b'\n')) {
            line::parse(text, number, &mut rows)?;
        }
        let entries = rows.columns.len();
        if rows.n_features > Self::FEATURES.saturating_add(entries.saturating_mul(Self::FEATURES_PER_ENTRY)) {
            return Err(LibsvmError::Gaps { index: rows.n_features - 1, entries });
        }
        Ok(rows)
    }
}
