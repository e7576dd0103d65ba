//! libsvm reader.

use std::path::Path;

use bitgrain_formats::libsvm::Rows;

use super::piece::narrowed;
use super::{Column, ColumnData, Numbers, Sparse, StringColumn, Table, TableError};

pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Table, TableError> {
    let rows = Rows::parse(bytes).map_err(|source| TableError::Libsvm { path: path.to_owned(), source })?;
    if rows.labels.is_empty() {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    let mut columns = vec![Column { name: "label".to_owned(), data: narrowed(rows.labels, Numbers::Exact) }];
    if let Some(weights) = rows.weights {
        columns.push(Column { name: "weight".to_owned(), data: ColumnData::F32(weights) });
    }
    if let Some(queries) = rows.queries {
        columns.push(Column { name: "qid".to_owned(), data: query_column(&queries) });
    }
    let mut table = Table::new(columns)?;
    table.sparse =
        Some(Sparse { row_ptr: rows.row_ptr, columns: rows.columns, values: rows.values, n_features: rows.n_features });
    Ok(table)
}

/// Converts query ids to a column: numbers if f64 is exact for all of them, else strings.
fn query_column(queries: &[u64]) -> ColumnData {
    const EXACT: u64 = 1 << 53;
    if queries.iter().all(|query| *query <= EXACT) {
        #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
        return narrowed(queries.iter().map(|query| *query as f64).collect(), Numbers::Exact);
    }
    let strings: Vec<String> = queries.iter().map(u64::to_string).collect();
    ColumnData::Strings(StringColumn::new(strings.iter().map(|query| Some(&**query))))
}
