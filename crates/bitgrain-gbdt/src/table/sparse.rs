//! Sparse rows of libsvm files.

/// Compressed sparse rows. Values without an entry are zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    /// Offset of the entries of each row, followed by the number of entries.
    pub row_ptr: Vec<usize>,
    /// Feature of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f32>,
    /// Number of features.
    pub n_features: usize,
}

impl Sparse {
    /// Changes the number of features; entries of removed features are dropped.
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

    /// Returns a subset of the rows in the given order.
    ///
    /// # Panics
    /// If a row index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut chosen =
            Self { row_ptr: vec![0], columns: Vec::new(), values: Vec::new(), n_features: self.n_features };
        for row in rows {
            let entries = self.row_ptr[*row]..self.row_ptr[row + 1];
            chosen.columns.extend_from_slice(&self.columns[entries.clone()]);
            chosen.values.extend_from_slice(&self.values[entries]);
            chosen.row_ptr.push(chosen.columns.len());
        }
        chosen
    }

    /// Returns the value of a feature in a row; 0 without an entry.
    ///
    /// # Panics
    /// If the row is out of range.
    #[must_use]
    pub fn value(&self, row: usize, feature: usize) -> f32 {
        let entries = self.row_ptr[row]..self.row_ptr[row + 1];
        let found = self.columns[entries.clone()].binary_search_by_key(&feature, |column| *column as usize);
        found.map_or(0.0, |at| self.values[entries.start + at])
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.row_ptr[..]) + size_of_val(&self.columns[..]) + size_of_val(&self.values[..])
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.row_ptr.len().saturating_sub(1)
    }
}
