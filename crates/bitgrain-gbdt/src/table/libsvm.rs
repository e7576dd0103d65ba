//! libsvm reader.

use std::path::Path;

use bitgrain_formats::libsvm::Rows;

use super::piece::narrowed;
use super::{Column, ColumnData, Numbers, Sparse, Table, TableError};

pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Table, TableError> {
    let rows = Rows::parse(bytes).map_err(|source| TableError::Libsvm { path: path.to_owned(), source })?;
    if rows.labels.is_empty() {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    let mut columns = vec![Column { name: "label".to_owned(), data: narrowed(rows.labels, Numbers::Exact) }];
    if let Some(weights) = rows.weights {
        columns.push(Column { name: "weight".to_owned(), data: ColumnData::F32(weights) });
    }
    let mut table = Table::new(columns)?;
    table.sparse =
        Some(Sparse { row_ptr: rows.row_ptr, columns: rows.columns, values: rows.values, n_features: rows.n_features });
    Ok(table)
}
