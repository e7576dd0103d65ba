//! The columns of a model, picked from a table.

use std::sync::Arc;

use super::target::label_codes;
use super::{Column, ColumnData, Matrix, Table, TableError};
use crate::feature::Schema;

impl Table {
    /// The features a model was trained on, in its order, and with its codes for texts; columns it does not know are
    /// left out. A text it has no code for is missing.
    ///
    /// Columns go by name. If the table or the model has no names of its own (`f0`, `f1`, …; `Column_0` in LightGBM's
    /// models) and there are as many columns as features, they go by place.
    ///
    /// # Errors
    /// [`TableError::MissingColumns`], or [`TableError::NotNumeric`] for texts where the model has numbers.
    pub fn align(mut self, schema: &Arc<Schema>) -> Result<Matrix, TableError> {
        if let Some(sparse) = self.sparse.take() {
            return Ok(Matrix::from_sparse(sparse.with_features(schema.n_features()), Arc::clone(schema)));
        }
        let mut columns = self.picked(schema.names())?;
        for (feature, (column, name)) in columns.iter_mut().zip(schema.names()).enumerate() {
            column.name.clone_from(name);
            let labels = schema.labels(feature);
            if !labels.is_empty() {
                column.data = ColumnData::F32(label_codes(&column.data, labels));
            } else if let ColumnData::Text(text) = &column.data {
                let example = text.labels.first().cloned().unwrap_or_default();
                return Err(TableError::NotNumeric { column: column.name.clone(), example });
            }
        }
        Ok(Matrix::from_columns(Self { columns, ..self }, Arc::clone(schema)))
    }

    /// The column of each input.
    fn picked(&mut self, names: &[String]) -> Result<Vec<Column>, TableError> {
        let missing: Vec<String> = names.iter().filter(|name| self.column(name).is_none()).cloned().collect();
        if missing.is_empty() {
            return names.iter().map(|name| self.take(name)).collect();
        }
        if self.columns.len() == names.len() && (!self.named || nameless(names)) {
            return Ok(std::mem::take(&mut self.columns));
        }
        Err(TableError::MissingColumns { missing, found: self.names() })
    }
}

/// Whether the names are places.
fn nameless(names: &[String]) -> bool {
    let is_place = |(at, name): (usize, &String)| {
        let number = name.strip_prefix("Column_").or_else(|| name.strip_prefix('f'));
        number.is_some_and(|number| number.parse() == Ok(at))
    };
    names.iter().enumerate().all(is_place)
}
