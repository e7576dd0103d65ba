//! `Loader`: the tensors of a model for a decoder, in the formats of the file or in others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bitgrain_codec::weight::{PartsBuf, QuantizedTensor, WeightFormat};

use super::LanguageError;
use crate::model::convert::{Recipe, quantized};
use crate::network::product::PackedMatrix;
use crate::{ModelFile, ModelTensor};

/// Source of a decoder's tensors.
#[derive(Clone, Copy)]
pub(super) struct Loader<'a> {
    pub(super) model: &'a ModelFile,
    substitutes: Option<Substitutes<'a>>,
}

/// Formats that replace those of the file.
#[derive(Clone, Copy)]
struct Substitutes<'a> {
    choose: &'a (dyn Fn(&ModelTensor) -> Option<WeightFormat> + Sync),
    recipe: &'a Recipe,
    cache: &'a MatrixCache,
}

/// Packed matrices of earlier decoders of the same model, by tensors and formats, so that decoders that differ in a few
/// matrices share the others.
#[derive(Debug, Default)]
pub(super) struct MatrixCache(Mutex<HashMap<String, Arc<PackedMatrix>>>);

impl<'a> Loader<'a> {
    /// Creates a loader that leaves the formats of the file unchanged.
    pub(super) const fn new(model: &'a ModelFile) -> Self {
        Self { model, substitutes: None }
    }

    /// Creates a loader that quantizes the matrices for which `choose` returns a format, with the importances of `recipe`.
    pub(super) const fn with(
        model: &'a ModelFile,
        choose: &'a (dyn Fn(&ModelTensor) -> Option<WeightFormat> + Sync),
        recipe: &'a Recipe,
        cache: &'a MatrixCache,
    ) -> Self {
        Self { model, substitutes: Some(Substitutes { choose, recipe, cache }) }
    }

    /// Returns the tensor `name` after checking its shape.
    pub(super) fn tensor(&self, name: &str, wanted: &[u64]) -> Result<&'a ModelTensor, LanguageError> {
        let tensor = self.model.tensor(name)?;
        if tensor.shape != wanted {
            let (path, found) = (self.model.path().to_owned(), tensor.shape.clone());
            return Err(LanguageError::TensorShape { path, tensor: name.to_owned(), wanted: wanted.to_vec(), found });
        }
        Ok(tensor)
    }

    /// Returns the values of the vector `name`, which must exist.
    pub(super) fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, LanguageError> {
        let values = self.tensor(name, &[len as u64])?.values()?;
        let finite = bitgrain_codec::weight::check_finite(&values);
        finite.map_err(|error| LanguageError::weights(name)(error.into()))?;
        Ok(values)
    }

    /// Returns the format that replaces the one of a tensor.
    pub(super) fn substitute(&self, tensor: &ModelTensor) -> Option<WeightFormat> {
        let chosen = (self.substitutes?.choose)(tensor)?;
        Some(chosen).filter(|_| tensor.storage.format() != Some(chosen))
    }

    /// Returns the codes of a tensor.
    pub(super) fn codes(&self, tensor: &ModelTensor) -> Result<QuantizedTensor, LanguageError> {
        match (self.substitute(tensor), self.substitutes) {
            (Some(format), Some(substitutes)) => Ok(quantized(tensor, format, substitutes.recipe)?),
            _ => Ok(tensor.quantized()?),
        }
    }

    /// Packs the rows of tensors of the same format and width as one matrix.
    pub(super) fn packed(&self, tensors: &[&ModelTensor]) -> Result<Arc<PackedMatrix>, LanguageError> {
        let Some(cache) = self.substitutes.map(|substitutes| substitutes.cache) else {
            return self.pack(tensors).map(Arc::new);
        };
        let lock = || cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        let format = |tensor: &ModelTensor| self.substitute(tensor).or(tensor.storage.format());
        let key: String = tensors.iter().map(|one| format!("{} {:?}\n", one.name, format(one))).collect();
        let known = lock().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let packed = Arc::new(self.pack(tensors)?);
        lock().insert(key, Arc::clone(&packed));
        Ok(packed)
    }

    fn pack(&self, tensors: &[&ModelTensor]) -> Result<PackedMatrix, LanguageError> {
        let name = tensors.first().map_or("", |tensor| &tensor.name);
        let mut all: Option<QuantizedTensor> = None;
        for tensor in tensors {
            let codes = self.codes(tensor)?;
            all = Some(match all {
                None => codes,
                Some(first) => joined(&first, &codes).map_err(|error| LanguageError::weights(name)(error.into()))?,
            });
        }
        let all =
            all.ok_or_else(|| LanguageError::Setting { name: "matrix", value: String::new(), wanted: "a tensor" })?;
        PackedMatrix::new(all).map_err(LanguageError::weights(name))
    }
}

impl MatrixCache {
    /// Removes all matrices that no decoder uses.
    pub(super) fn remove_unused(&self) {
        let mut matrices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        matrices.retain(|_, matrix| Arc::strong_count(matrix) > 1);
    }
}

/// Appends the rows of a matrix to those of another of the same format and width.
fn joined(first: &QuantizedTensor, second: &QuantizedTensor) -> Result<QuantizedTensor, bitgrain_codec::CodecErr> {
    let codes = [first.parts().codes, second.parts().codes].concat();
    let (rows, cols) = first.shape();
    let parts = PartsBuf { codes, scales: Vec::new(), zeros: Vec::new() };
    QuantizedTensor::from_parts(first.format(), rows + second.shape().0, cols, parts)
}
