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

    /// Some of the rows, in the order given.
    ///
    /// # Panics
    /// For a row that is not there.
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

    /// The value of a feature in a row; 0 if there is no entry.
    ///
    /// # Panics
    /// For a row that is not there.
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
