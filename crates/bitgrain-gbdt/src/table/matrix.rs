//! `Matrix`: features of a table, as training and prediction use them.

use std::sync::Arc;

use super::piece::rounded;
use super::{ColumnData, Sparse, StringColumn, Table, TableError};
use crate::feature::{Absent, FeatureError, Features, Schema};

/// Features of a table: numbers and category codes, column-major.
#[derive(Debug, Clone)]
pub struct Matrix {
    cells: Cells,
    n_rows: usize,
    schema: Arc<Schema>,
}

/// Values in f32, in f64 if some column needs it, or as sparse rows of a libsvm file.
#[derive(Debug, Clone)]
enum Cells {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Sparse(Sparse),
}

impl Table {
    /// Converts the columns to features: strings are categories, and so are the numeric columns in `categorical`.
    ///
    /// # Errors
    /// Returns [`TableError::MissingColumns`] for unknown names in `categorical`, or [`TableError::Category`].
    pub fn into_matrix(self, categorical: &[String]) -> Result<Matrix, TableError> {
        let missing = |name: &&String| self.sparse.is_some() || self.column(name).is_none();
        let missing: Vec<String> = categorical.iter().filter(missing).cloned().collect();
        if !missing.is_empty() {
            return Err(TableError::MissingColumns { missing, found: self.names() });
        }
        if let Some(sparse) = self.sparse {
            let schema = Schema::unnamed(sparse.n_features);
            return Ok(Matrix::from_sparse(sparse, Arc::new(schema)));
        }
        let mut parts = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let labels = match &column.data {
                ColumnData::Strings(text) => Some(text.labels.clone()),
                _ if categorical.contains(&column.name) => {
                    check_codes(column)?;
                    Some(Vec::new())
                }
                _ => None,
            };
            parts.push((column.name.clone(), labels));
        }
        Ok(Matrix::from_columns(self, Arc::new(Schema::from_parts(parts))))
    }
}

impl Matrix {
    pub(super) fn from_sparse(sparse: Sparse, schema: Arc<Schema>) -> Self {
        Self { n_rows: sparse.n_rows(), cells: Cells::Sparse(sparse), schema }
    }

    /// Moves columns out of the table one by one, so that memory never holds two copies.
    pub(super) fn from_columns(table: Table, schema: Arc<Schema>) -> Self {
        let (n_rows, n_features) = (table.n_rows, table.columns.len());
        let wide = table.columns.iter().any(|column| matches!(column.data, ColumnData::F64(_)));
        let (mut narrow_cells, mut wide_cells) = (Vec::new(), Vec::new());
        if wide {
            wide_cells.reserve_exact(n_rows * n_features)
        } else {
            narrow_cells.reserve_exact(n_rows * n_features)
        }
        for column in table.columns {
            match column.data {
                ColumnData::F32(values) if wide => wide_cells.extend(values.into_iter().map(f64::from)),
                ColumnData::F32(values) => narrow_cells.extend(values),
                ColumnData::F64(values) => wide_cells.extend(values),
                ColumnData::Strings(StringColumn { codes, .. }) => {
                    let codes = codes
                        .into_iter()
                        .map(|code| if code == StringColumn::MISSING { f64::NAN } else { code.into() });
                    if wide { wide_cells.extend(codes) } else { narrow_cells.extend(codes.map(rounded)) }
                }
            }
        }
        let cells = if wide { Cells::F64(wide_cells) } else { Cells::F32(narrow_cells) };
        Self { cells, n_rows, schema }
    }

    /// Borrows the features.
    ///
    /// # Errors
    /// Returns [`FeatureError::Empty`] if there are no rows or no features.
    pub fn features(&self) -> Result<Features<'_>, FeatureError> {
        let (rows, features) = (self.n_rows, self.schema.n_features());
        let matrix = match &self.cells {
            Cells::F32(values) => Features::column_major(&values[..], rows, features)?,
            Cells::F64(values) => Features::column_major(&values[..], rows, features)?,
            Cells::Sparse(Sparse { row_ptr, columns, values, n_features }) => {
                Features::sparse(row_ptr, columns, values, *n_features, Absent::Zero)?
            }
        };
        matrix.with_schema(Arc::clone(&self.schema))
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Names, kinds and category labels of the features.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the values of a row in f32, as they are binned.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f32> {
        let at = |feature: usize| feature * self.n_rows + row;
        let value = |feature: usize| match &self.cells {
            Cells::F32(values) => values[at(feature)],
            Cells::F64(values) => rounded(values[at(feature)]),
            Cells::Sparse(sparse) => sparse.value(row, feature),
        };
        (0..self.schema.n_features()).map(value).collect()
    }

    /// Size of the values in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.cells {
            Cells::F32(values) => size_of_val(&values[..]),
            Cells::F64(values) => size_of_val(&values[..]),
            Cells::Sparse(sparse) => sparse.bytes(),
        }
    }

    /// Returns a subset of the rows in the given order.
    ///
    /// # Panics
    /// If a row index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let cells = match &self.cells {
            Cells::F32(values) => Cells::F32(selected(values, self.n_rows, rows)),
            Cells::F64(values) => Cells::F64(selected(values, self.n_rows, rows)),
            Cells::Sparse(sparse) => Cells::Sparse(sparse.select(rows)),
        };
        Self { cells, n_rows: rows.len(), schema: Arc::clone(&self.schema) }
    }
}

fn selected<T: Copy>(values: &[T], n_rows: usize, rows: &[usize]) -> Vec<T> {
    if n_rows == 0 {
        return Vec::new();
    }
    values.chunks_exact(n_rows).flat_map(|column| rows.iter().map(|row| column[*row])).collect()
}

/// Upper bound of category codes (exclusive): smaller integers are exact in f32.
const MOST_CODES: f64 = 16_777_216.0;

/// Checks that numeric categories are integers. Negative numbers are missing.
fn check_codes(column: &super::Column) -> Result<(), TableError> {
    let is_code = |value: f64| value.is_nan() || value < 0.0 || value.fract() == 0.0 && value < MOST_CODES;
    let first = column.data.numbers().into_iter().flatten().enumerate().find(|(_, value)| !is_code(*value));
    first.map_or(Ok(()), |(row, value)| Err(TableError::Category { column: column.name.clone(), row, value }))
}
