//! The columns of a model, picked from a table.

use super::target::label_codes;
use super::{Column, ColumnData, Matrix, Table, TableError};
use crate::model::{Input, InputKind};

impl Table {
    /// The features a model was trained on, in its order, and with its codes for texts; columns it does not know are
    /// left out. A text it has no code for is missing.
    ///
    /// Columns go by name. If the table or the model has no names of its own (`f0`, `f1`, …; `Column_0` in LightGBM's
    /// models) and there are as many columns as features, they go by place.
    ///
    /// # Errors
    /// [`TableError::MissingColumns`], or [`TableError::NotNumeric`] for texts where the model has numbers.
    pub fn align(mut self, inputs: &[Input]) -> Result<Matrix, TableError> {
        let categorical: Vec<usize> =
            (0..inputs.len()).filter(|at| matches!(inputs[*at].kind, InputKind::Categorical { .. })).collect();
        if let Some(sparse) = self.sparse.take() {
            return Ok(Matrix::from_sparse(sparse.with_features(inputs.len())));
        }
        let mut columns = self.picked(inputs)?;
        for (column, input) in columns.iter_mut().zip(inputs) {
            column.name.clone_from(&input.name);
            match &input.kind {
                InputKind::Categorical { labels, .. } if !labels.is_empty() => {
                    column.data = ColumnData::F32(label_codes(&column.data, labels));
                }
                _ => {
                    if let ColumnData::Text(text) = &column.data {
                        let example = text.labels.first().cloned().unwrap_or_default();
                        return Err(TableError::NotNumeric { column: column.name.clone(), example });
                    }
                }
            }
        }
        let labels = inputs.iter().map(|input| match &input.kind {
            InputKind::Categorical { labels, .. } => labels.clone(),
            InputKind::Numeric => Vec::new(),
        });
        Ok(Matrix::from_columns(Self { columns, ..self }, categorical).with_labels(labels.collect()))
    }

    /// The column of each input.
    fn picked(&mut self, inputs: &[Input]) -> Result<Vec<Column>, TableError> {
        let missing: Vec<String> =
            inputs.iter().filter(|input| self.column(&input.name).is_none()).map(|input| input.name.clone()).collect();
        if missing.is_empty() {
            return inputs.iter().map(|input| self.take(&input.name)).collect();
        }
        if self.columns.len() == inputs.len() && (!self.named || nameless(inputs)) {
            return Ok(std::mem::take(&mut self.columns));
        }
        Err(TableError::MissingColumns { missing, found: self.names() })
    }
}

/// Whether the names are places.
fn nameless(inputs: &[Input]) -> bool {
    let is_place = |(at, input): (usize, &Input)| {
        let number = input.name.strip_prefix("Column_").or_else(|| input.name.strip_prefix('f'));
        number.is_some_and(|number| number.parse() == Ok(at))
    };
    inputs.iter().enumerate().all(is_place)
}
