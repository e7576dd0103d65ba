//! `ImportanceMatrix`: how much the error of each column of a tensor matters.

use std::collections::HashMap;
use std::path::Path;

use super::{ModelFile, ModelTensor};
use crate::model::ModelFileError;

/// Numbers per column for some tensors of a model, as an importance matrix of llama.cpp has them.
#[derive(Debug, Default)]
pub struct ImportanceMatrix(HashMap<String, Vec<f32>>);

/// How llama.cpp's files name the sums of squared activations, and how many went into them.
const SUMS: &str = ".in_sum2";
const COUNTS: &str = ".counts";

impl ImportanceMatrix {
    /// Reads importances from a model file: `NAME.in_sum2` with `NAME.counts` as llama.cpp's `imatrix.gguf` has them, or
    /// plainly a vector `NAME`, in GGUF, safetensors or npz.
    ///
    /// # Errors
    /// [`ModelFileError::ImportanceValue`] for numbers that are negative or not finite, and what opening and reading brings.
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
            usable(&mut values, tensor)?;
            all.insert(name.to_owned(), values);
        }
        Ok(Self(all))
    }

    /// The numbers for a tensor, if there are any: one for each column, or for each column of each of its matrices,
    /// as the experts of a layer have them.
    ///
    /// # Errors
    /// [`ModelFileError::Importance`] if there are neither.
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

    /// How many of a model's tensors it has numbers for.
    #[must_use]
    pub fn covers(&self, model: &ModelFile) -> usize {
        model.tensors().iter().filter(|tensor| self.0.contains_key(&tensor.name)).count()
    }

    /// How many tensors it has numbers for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Refuses what weighs nothing or less. A row of zeros says nothing, and becomes a row of equals.
fn usable(values: &mut [f32], tensor: &ModelTensor) -> Result<(), ModelFileError> {
    if let Some(index) = values.iter().position(|value| !value.is_finite() || *value < 0.0) {
        return Err(ModelFileError::ImportanceValue { tensor: tensor.name.clone(), index, value: values[index] });
    }
    let (_, cols) = tensor.matrix_shape()?;
    for row in values.chunks_mut(cols.max(1)).filter(|row| row.iter().all(|value| *value == 0.0)) {
        row.fill(1.0);
    }
    Ok(())
}

/// Sums to means. A matrix of experts that nothing was counted for keeps equal importances.
fn average(values: &mut [f32], sums: &ModelTensor, counts: &ModelTensor) -> Result<(), ModelFileError> {
    let counts = counts.values()?;
    let (_, cols) = sums.matrix_shape()?;
    for (row, count) in values.chunks_mut(cols.max(1)).zip(counts) {
        row.iter_mut().for_each(|value| *value = if count > 0.0 { *value / count } else { 1.0 });
    }
    Ok(())
}
