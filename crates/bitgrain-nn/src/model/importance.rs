//! `ImportanceMatrix`: weights for the quantization error of each column of a tensor.

use std::collections::HashMap;
use std::path::Path;

use super::{ModelFile, ModelTensor};
use crate::model::ModelFileError;

/// Per-column importances for tensors of a model, as in an importance matrix (imatrix) of llama.cpp.
#[derive(Debug, Default)]
pub struct ImportanceMatrix(HashMap<String, Vec<f32>>);

/// Suffixes that llama.cpp appends to a tensor's name for the sums of squared activations and their counts.
const SUMS: &str = ".in_sum2";
const COUNTS: &str = ".counts";

impl ImportanceMatrix {
    /// Reads importances from a GGUF, safetensors or npz file: either `NAME.in_sum2` with `NAME.counts`, as in
    /// llama.cpp's `imatrix.gguf`, or a plain vector `NAME`.
    ///
    /// # Errors
    /// Returns [`ModelFileError::ImportanceValue`] for values that are negative or not finite, and the errors of
    /// [`ModelFile::open`] and [`ModelTensor::values`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let model = ModelFile::open(path)?;
        let mut all = HashMap::new();
        for tensor in model.tensors().iter().filter(|tensor| !tensor.name.ends_with(COUNTS)) {
            let mut values = tensor.values()?;
            let name = match tensor.name.strip_suffix(SUMS) {
                Some(name) => {
                    let counts = model.tensor(&format!("{name}{COUNTS}"))?;
                    average(&mut values, tensor, counts)?;
                    name
                }
                None => &tensor.name,
            };
            check_importances(&mut values, tensor)?;
            all.insert(name.to_owned(), values);
        }
        Ok(Self(all))
    }

    /// Creates a matrix from tensors with their number of columns and finite importances.
    pub(crate) fn of_columns(tensors: impl Iterator<Item = (String, usize, Vec<f32>)>) -> Self {
        let checked = |(name, cols, mut values): (String, usize, Vec<f32>)| {
            even_out(&mut values, cols);
            (name, values)
        };
        Self(tensors.map(checked).collect())
    }

    /// Returns the importances for a tensor, if it has any: one per column, or one per column of each of its matrices,
    /// as for the experts of a mixture-of-experts layer.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Importance`] if the length matches neither.
    pub fn of(&self, tensor: &ModelTensor) -> Result<Option<&[f32]>, ModelFileError> {
        let matrices = tensor.shape.iter().rev().skip(2).fold(1_u64, |product, dim| product.saturating_mul(*dim));
        let fits = |len: u64| len == tensor.cols() || Some(len) == tensor.cols().checked_mul(matrices);
        match self.0.get(&tensor.name) {
            Some(values) if !fits(values.len() as u64) => Err(ModelFileError::Importance {
                tensor: tensor.name.clone(),
                found: values.len() as u64,
                cols: tensor.cols(),
            }),
            found => Ok(found.map(Vec::as_slice)),
        }
    }

    /// Returns the number of the model's tensors that have importances.
    #[must_use]
    pub fn covers(&self, model: &ModelFile) -> usize {
        model.tensors().iter().filter(|tensor| self.0.contains_key(&tensor.name)).count()
    }

    /// Returns the number of tensors with importances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no tensor has importances.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Rejects negative and non-finite importances.
fn check_importances(values: &mut [f32], tensor: &ModelTensor) -> Result<(), ModelFileError> {
    if let Some(index) = values.iter().position(|value| !value.is_finite() || *value < 0.0) {
        return Err(ModelFileError::ImportanceValue { tensor: tensor.name.clone(), index, value: values[index] });
    }
    let (_, cols) = tensor.matrix_shape()?;
    even_out(values, cols);
    Ok(())
}

/// Turns rows of all zeros into rows of ones: they carry no information and would divide by zero later.
fn even_out(values: &mut [f32], cols: usize) {
    values.chunks_mut(cols.max(1)).filter(|row| row.iter().all(|value| *value == 0.0)).for_each(|row| row.fill(1.0));
}

/// Divides sums by counts. Experts that were never routed to have a count of 0 and get equal importances.
fn average(values: &mut [f32], sums: &ModelTensor, counts: &ModelTensor) -> Result<(), ModelFileError> {
    let counts = counts.values()?;
    let (_, cols) = sums.matrix_shape()?;
    for (row, count) in values.chunks_mut(cols.max(1)).zip(counts) {
        row.iter_mut().for_each(|value| *value = if count > 0.0 { *value / count } else { 1.0 });
    }
    Ok(())
}
