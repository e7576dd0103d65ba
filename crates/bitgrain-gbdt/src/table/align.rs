//! Selection of a model's columns from a table.

use std::sync::Arc;

use super::target::label_codes;
use super::{Column, ColumnData, Matrix, Table, TableError};
use crate::feature::{ColumnMismatch, Schema};

impl Table {
    /// Returns the features of a model in its order, with its category codes for strings. Other columns are dropped.
    /// Strings without a code are missing.
    ///
    /// Columns are matched by [`Schema::match_columns`].
    ///
    /// # Errors
    /// Returns [`TableError::MissingColumns`], or [`TableError::NotNumeric`] for strings in a numeric feature.
    pub fn align(mut self, schema: &Arc<Schema>) -> Result<Matrix, TableError> {
        if let Some(sparse) = self.sparse.take() {
            return Ok(Matrix::from_sparse(sparse.with_features(schema.n_features()), Arc::clone(schema)));
        }
        let mut columns = self.picked(schema)?;
        for (feature, (column, name)) in columns.iter_mut().zip(schema.names()).enumerate() {
            column.name.clone_from(name);
            let labels = schema.labels(feature);
            if !labels.is_empty() {
                column.data = ColumnData::F32(label_codes(&column.data, labels));
            } else if let ColumnData::Strings(text) = &column.data {
                let example = text.labels.first().cloned().unwrap_or_default();
                return Err(TableError::NotNumeric { column: column.name.clone(), example });
            }
        }
        Ok(Matrix::from_columns(Self { columns, ..self }, Arc::clone(schema)))
    }

    /// Returns the column of each feature.
    fn picked(&mut self, schema: &Schema) -> Result<Vec<Column>, TableError> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let places = schema.match_columns(&names, self.named).map_err(|mismatch| match mismatch {
            ColumnMismatch::Missing { missing, .. } => TableError::MissingColumns { missing, found: self.names() },
            ColumnMismatch::Duplicate { name } => TableError::DuplicateColumn { name },
        })?;
        let mut columns: Vec<Option<Column>> = std::mem::take(&mut self.columns).into_iter().map(Some).collect();
        Ok(places.into_iter().filter_map(|place| columns[place].take()).collect())
    }
}
