//! `WeightVersions`: weights at f32, and quantized versions of them.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bitgrain::nn::WeightStore;
use bitgrain::nn::network::product::{ProductShape, multiply_f32};
use bitgrain::nn::network::weights::Active;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::format::{full_name, parse};
use super::tensor::WeightTensor;
use super::{Floats, elements, matrix};
use crate::error::{Raised, Result};
use crate::process;

/// Weights at f32, and quantized versions of them. Locks are only waited for without the interpreter.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightVersions {
    store: RwLock<WeightStore>,
    shape: Vec<usize>,
}

impl WeightVersions {
    fn read(&self) -> RwLockReadGuard<'_, WeightStore> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, WeightStore> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl WeightVersions {
    /// Weights of any shape; rows lie along the last axis.
    #[new]
    fn new(py: Python<'_>, values: Floats<'_>) -> Result<Self> {
        let shape = values.shape().to_vec();
        let (given, (_, cols)) = (elements(&values)?, matrix(&shape));
        if given.is_empty() {
            return Err(Raised::input("an empty array has no weights to keep"));
        }
        let store = process::detached(py, || WeightStore::new(given.to_vec(), cols))?;
        Ok(Self { store: RwLock::new(store), shape })
    }

    /// The shape of the weights.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// The weights that versions are made from.
    fn master<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        process::detached(py, || self.read().master().to_vec()).into_pyarray(py)
    }

    /// Makes a version, unless there is one.
    fn morph(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.read().morph(format))?)
    }

    /// Makes the master what a version stands for.
    fn unpack(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.write().unpack(format))?)
    }

    /// The version of that format, if there is one.
    fn active(&self, py: Python<'_>, format: &str) -> Result<Option<WeightTensor>> {
        let format = parse(format)?;
        let found =
            process::detached(py, || self.read().active(format).version().map(|version| version.tensor().clone()));
        Ok(found.map(|tensor| WeightTensor { tensor: Arc::new(tensor), shape: self.shape.clone() }))
    }

    /// The weights that a version stands for.
    fn values<'py>(&self, py: Python<'py>, format: &str) -> Result<Bound<'py, PyArray1<f32>>> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.read().morph_to_f32(format))?.into_pyarray(py))
    }

    /// Takes a step against gradients.
    fn apply_gradients(&self, py: Python<'_>, gradients: Floats<'_>, rate: f32) -> Result<()> {
        let gradients = elements(&gradients)?;
        Ok(process::detached(py, || self.write().apply_gradients(gradients, rate))?)
    }

    /// Puts other weights in place.
    fn set_master(&self, py: Python<'_>, values: Floats<'_>) -> Result<()> {
        let values = elements(&values)?;
        Ok(process::detached(py, || self.write().set_master(values.to_vec()))?)
    }

    /// Says how much the errors of each column matter.
    #[pyo3(signature = (importance))]
    fn set_importance(&self, py: Python<'_>, importance: Option<PyReadonlyArray1<'_, f32>>) -> Result<()> {
        let importance = importance.as_ref().map(elements).transpose()?;
        Ok(process::detached(py, || self.write().set_importance(importance.map(<[f32]>::to_vec)))?)
    }

    /// How much the errors of each column matter, if that was said.
    fn importance<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        process::detached(py, || self.read().importance().map(<[f32]>::to_vec)).map(|all| all.into_pyarray(py))
    }

    /// Forgets a version.
    fn clear(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        process::detached(py, || self.read().clear(format));
        Ok(())
    }

    /// What each copy takes in memory: the master, then the versions.
    fn memory(&self, py: Python<'_>) -> Vec<(String, usize)> {
        let memory = process::detached(py, || self.read().memory());
        memory.into_iter().map(|(format, bytes)| (full_name(format), bytes)).collect()
    }

    /// `x · weightsᵀ` in that format, for rows `x` as long as those of the weights.
    fn multiply<'py>(&self, py: Python<'py>, x: Floats<'py>, format: &str) -> Result<Bound<'py, PyArray1<f32>>> {
        let (format, (rows, cols)) = (parse(format)?, matrix(&self.shape));
        let (batch, width) = matrix(x.shape());
        if width != cols {
            return Err(Raised::input(format!("x has rows of {width}, the weights have rows of {cols}")));
        }
        let x = elements(&x)?;
        let product = process::detached(py, || -> Result<Vec<f32>> {
            let store = self.read();
            let mut out = vec![0.0; batch * rows];
            match store.fresh(format)? {
                Active::Master(weights) => multiply_f32(x, weights, ProductShape { batch, rows, cols }, &mut out)?,
                Active::Version(version) => version.multiply(x, &mut out)?,
            }
            Ok(out)
        })?;
        Ok(product.into_pyarray(py))
    }
}
