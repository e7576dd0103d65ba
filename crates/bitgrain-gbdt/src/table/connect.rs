//! Where tables meet features that are categorical or sparse.

use super::Sparse;
use super::matrix::Cells;
use crate::feature::{FeatureError, Features};

/// Marks features as categorical.
pub(super) fn with_categorical<'a>(features: Features<'a>, _which: &[usize]) -> Result<Features<'a>, FeatureError> {
    // CONNECT: features.with_categorical(which)
    Ok(features)
}

/// Sparse rows as features take them.
pub(super) fn sparse_cells(sparse: &Sparse) -> Cells {
    // CONNECT: Features::sparse(row_ptr, columns, values, n_features, Absent::Zero)
    let rows = sparse.n_rows();
    let mut cells = vec![0.0; rows * sparse.n_features];
    for row in 0..rows {
        for at in sparse.row_ptr[row]..sparse.row_ptr[row + 1] {
            cells[sparse.columns[at] as usize * rows + row] = sparse.values[at];
        }
    }
    Cells::F32(cells)
}
