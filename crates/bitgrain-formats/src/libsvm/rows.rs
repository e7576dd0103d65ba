//! `Rows`: all lines of a file, as compressed sparse rows.

use super::{LibsvmError, line};

/// The rows of a libsvm file. Indices are those of the file: where they count from 1, feature 0 is always absent.
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
    /// The label of each row.
    pub labels: Vec<f64>,
    /// The weight of each row, if labels have weights (`1:0.3`).
    pub weights: Option<Vec<f32>>,
    /// Where the entries of each row begin, and where the last row ends.
    pub row_ptr: Vec<usize>,
    /// The feature of each entry, ascending in a row.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<f32>,
    /// One more than the largest index.
    pub n_features: usize,
}

impl Rows {
    /// The largest index that is read: what a table of so many features costs has nothing to do with the size of the
    /// file.
    pub const MAX_INDEX: u32 = (1 << 24) - 1;

    /// Features that there may be whatever the number of entries, and how many more for each entry: every feature costs
    /// memory, and a file of one line can name the largest.
    const FEATURES: usize = 1 << 14;
    const FEATURES_PER_ENTRY: usize = 64;

    /// Reads a whole file.
    ///
    /// # Errors
    /// [`LibsvmError`], with the line it is in.
    pub fn parse(data: &[u8]) -> Result<Self, LibsvmError> {
        let mut rows = Self {
            labels: Vec::new(),
            weights: None,
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
