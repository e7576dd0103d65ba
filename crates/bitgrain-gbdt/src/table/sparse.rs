//! Sparse rows, as libsvm files hold them.

/// Compressed sparse rows. What is not there is zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// Where the entries of each row begin, and where the last row ends.
    pub row_ptr: Vec<usize>,
    /// The feature of each entry, ascending in a row.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<f32>,
    /// Number of features.
    pub n_features: usize,
}

impl Sparse {
    /// The same rows with another number of features: entries of those that go are dropped.
    #[must_use]
    pub fn with_features(mut self, n_features: usize) -> Self {
        if n_features < self.n_features {
            let mut kept = 0;
            let mut start = 0;
            for row in 1..self.row_ptr.len() {
                for at in start..self.row_ptr[row] {
                    if (self.columns[at] as usize) < n_features {
                        self.columns[kept] = self.columns[at];
                        self.values[kept] = self.values[at];
                        kept += 1;
                    }
                }
                start = std::mem::replace(&mut self.row_ptr[row], kept);
            }
            self.columns.truncate(kept);
            self.values.truncate(kept);
        }
        self.n_features = n_features;
        self
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.row_ptr.len().saturating_sub(1)
    }
}
