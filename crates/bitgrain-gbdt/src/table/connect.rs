//! Where tables meet features that are categorical or sparse.

use std::sync::OnceLock;

use super::Sparse;
use crate::feature::{FeatureError, Features};

/// Marks features as categorical.
pub(super) fn with_categorical<'a>(features: Features<'a>, _which: &[usize]) -> Result<Features<'a>, FeatureError> {
    // CONNECT: features.with_categorical(which)
    Ok(features)
}

/// Sparse rows as features take them.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    pub(super) sparse: Sparse,
    /// CONNECT: goes, with `filled`, once features take sparse rows.
    dense: OnceLock<Vec<f32>>,
}

impl Rows {
    pub(super) fn new(sparse: Sparse) -> Self {
        Self { sparse, dense: OnceLock::new() }
    }

    pub(super) fn features(&self) -> Result<Features<'_>, FeatureError> {
        // CONNECT: Features::sparse(&s.row_ptr, &s.columns, &s.values, s.n_features, Absent::Zero)
        let dense = self.dense.get_or_init(|| filled(&self.sparse));
        Features::column_major(&dense[..], self.sparse.n_rows(), self.sparse.n_features)
    }
}

fn filled(sparse: &Sparse) -> Vec<f32> {
    let rows = sparse.n_rows();
    let mut cells = vec![0.0; rows * sparse.n_features];
    for row in 0..rows {
        for at in sparse.row_ptr[row]..sparse.row_ptr[row + 1] {
            cells[sparse.columns[at] as usize * rows + row] = sparse.values[at];
        }
    }
    cells
}
