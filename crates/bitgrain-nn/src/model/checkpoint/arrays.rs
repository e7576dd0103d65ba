//! `Arrays`: the arrays of a checkpoint by name, from which packed tensors are assembled.

use std::collections::HashMap;

use bitgrain_codec::weight::DType;

use super::config::Settings;
use super::{CheckpointError, Packed};
use crate::model::{ModelTensor, TensorEncoding};

/// Arrays that have not been assembled yet, in file order, and the tensors that have.
pub(super) struct Arrays {
    /// `None` after an array became part of a tensor.
    slots: Vec<Option<ModelTensor>>,
    places: HashMap<String, usize>,
    packed: usize,
}

impl Arrays {
    pub(super) fn new(tensors: Vec<ModelTensor>) -> Self {
        let places = tensors.iter().enumerate().map(|(place, tensor)| (tensor.name.clone(), place)).collect();
        Self { slots: tensors.into_iter().map(Some).collect(), places, packed: 0 }
    }

    /// Returns the modules that have an array with this ending: the names without it, in file order.
    pub(super) fn modules(&self, ending: &str) -> Vec<String> {
        let names = self.slots.iter().flatten().filter_map(|tensor| tensor.name.strip_suffix(ending));
        names.map(str::to_owned).collect()
    }

    pub(super) fn has(&self, module: &str, ending: &str) -> bool {
        self.get(module, ending).is_some()
    }

    pub(super) fn get(&self, module: &str, ending: &str) -> Option<&ModelTensor> {
        self.slots[*self.places.get(&format!("{module}{ending}"))?].as_ref()
    }

    /// Removes an array.
    pub(super) fn take(&mut self, module: &str, ending: &str) -> Option<ModelTensor> {
        self.slots[*self.places.get(&format!("{module}{ending}"))?].take()
    }

    /// Removes an array that must exist. `codes` is the ending of the array that requires it.
    pub(super) fn need(&mut self, module: &str, ending: &str, codes: &str) -> Result<ModelTensor, CheckpointError> {
        self.take(module, ending).ok_or_else(|| CheckpointError::MissingArray {
            tensor: format!("{module}{codes}"),
            array: format!("{module}{ending}"),
        })
    }

    /// Adds a tensor in the place of the array `at`, which was taken.
    pub(super) fn put(&mut self, at: &str, name: String, shape: Vec<u64>, packed: Packed) {
        let Some(place) = self.places.remove(at) else { return };
        self.places.insert(name.clone(), place);
        self.slots[place] = Some(ModelTensor::of_packed(name, shape, packed));
        self.packed += 1;
    }

    /// Returns the tensors.
    pub(super) fn into_tensors(self) -> Vec<ModelTensor> {
        self.slots.into_iter().flatten().collect()
    }

    /// Returns the tensors. Fails if none was packed.
    pub(super) fn finish(self, settings: &Settings) -> Result<Vec<ModelTensor>, CheckpointError> {
        if self.packed == 0 {
            let (path, method) = (settings.path().to_owned(), settings.name().to_owned());
            return Err(CheckpointError::NothingPacked { path, method });
        }
        let left = self.into_tensors();
        match first_packed(&left) {
            Some((array, method)) => Err(CheckpointError::Contradiction {
                tensor: array.to_owned(),
                found: format!("an array of {method}"),
                expected: format!("the method is {}", settings.name()),
            }),
            None => Ok(left),
        }
    }
}

/// Returns the first array whose name and dtype only occur in packed weights, and the method it suggests.
pub(super) fn first_packed(tensors: &[ModelTensor]) -> Option<(&str, &'static str)> {
    let names: HashMap<&str, &ModelTensor> = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    tensors.iter().filter(|tensor| tensor.packed.is_none()).find_map(|tensor| {
        let name = tensor.name.as_str();
        let beside = |stem: &str, ending: &str| names.contains_key(format!("{stem}{ending}").as_str());
        let stem = |ending: &str| name.strip_suffix(ending);
        let method = if stem(".qweight").is_some_and(|stem| beside(stem, ".qzeros")) {
            "GPTQ or AWQ"
        } else if stem(".weight_packed").is_some_and(|stem| beside(stem, ".weight_scale")) {
            "compressed-tensors"
        } else if stem(".weight_scale_inv").is_some_and(|stem| beside(stem, ".weight")) {
            "FP8"
        } else if name.contains(".weight.quant_state.bitsandbytes__") || stem(".SCB").is_some() {
            "bitsandbytes"
        } else if stem(".W_q").is_some_and(|stem| beside(stem, ".group_size")) {
            "HQQ"
        } else if stem("_blocks").is_some_and(|stem| beside(stem, "_scales") && is_integer(tensor, DType::Uint8)) {
            "MXFP4"
        } else {
            return None;
        };
        Some((name, method))
    })
}

pub(super) fn is_integer(tensor: &ModelTensor, wanted: DType) -> bool {
    matches!(tensor.storage, TensorEncoding::Integers { dtype, .. } if dtype == wanted)
}

/// Returns whether a tensor holds plain floats of at least 16 bits.
pub(super) fn is_float(tensor: &ModelTensor) -> bool {
    tensor.storage.is_float()
}

/// Fails unless an array has this dtype and shape.
pub(super) fn check(
    tensor: &ModelTensor,
    expected: &str,
    fits: impl FnOnce(&ModelTensor) -> bool,
) -> Result<(), CheckpointError> {
    if fits(tensor) {
        return Ok(());
    }
    Err(CheckpointError::Array {
        tensor: tensor.name.clone(),
        found: format!("{} {:?}", tensor.storage, tensor.shape),
        expected: expected.to_owned(),
    })
}

/// Returns rows and columns of a matrix, neither of them 0.
pub(super) fn matrix(tensor: &ModelTensor, expected: &str) -> Result<(u64, u64), CheckpointError> {
    check(tensor, expected, |tensor| tensor.shape.len() == 2 && !tensor.shape.contains(&0))?;
    Ok((tensor.shape[0], tensor.shape[1]))
}
