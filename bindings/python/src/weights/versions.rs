//! `WeightVersions`: f32 weights and their quantized versions.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

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

/// F32 weights and their quantized versions. The lock is only waited for without the GIL, to prevent deadlocks.
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
    /// Creates a store of weights of any shape; rows lie along the last axis.
    #[new]
    fn new(py: Python<'_>, values: Floats<'_>) -> Result<Self> {
        let shape = values.shape().to_vec();
        let (given, (_, cols)) = (elements(&values)?, matrix(&shape));
        if given.is_empty() {
            return Err(Raised::input("the array is empty; a weight store needs at least one weight"));
        }
        let store = process::detached(py, || WeightStore::new(given.to_vec(), cols))?;
        Ok(Self { store: RwLock::new(store), shape })
    }

    /// Returns the shape of the weights.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// Returns the master weights.
    fn master<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        process::detached(py, || self.read().master().to_vec()).into_pyarray(py)
    }

    /// Creates the version in a format, unless it exists.
    fn morph(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.read().morph(format))?)
    }

    /// Replaces the master by the dequantized weights of a version.
    fn unpack(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.write().unpack(format))?)
    }

    /// Returns the version in a format, if it exists.
    fn active(&self, py: Python<'_>, format: &str) -> Result<Option<WeightTensor>> {
        let format = parse(format)?;
        let found = process::detached(py, || self.read().active(format).version().map(|version| version.tensor()));
        Ok(found.map(|tensor| WeightTensor { tensor, shape: self.shape.clone() }))
    }

    /// Returns the dequantized weights of a version.
    fn values<'py>(&self, py: Python<'py>, format: &str) -> Result<Bound<'py, PyArray1<f32>>> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.read().morph_to_f32(format))?.into_pyarray(py))
    }

    /// Takes a gradient step.
    fn apply_gradients(&self, py: Python<'_>, gradients: Floats<'_>, rate: f32) -> Result<()> {
        let gradients = elements(&gradients)?;
        Ok(process::detached(py, || self.write().apply_gradients(gradients, rate))?)
    }

    /// Replaces the master weights.
    fn set_master(&self, py: Python<'_>, values: Floats<'_>) -> Result<()> {
        let values = elements(&values)?;
        Ok(process::detached(py, || self.write().set_master(values.to_vec()))?)
    }

    /// Sets the importance of the errors in each column.
    #[pyo3(signature = (importance))]
    fn set_importance(&self, py: Python<'_>, importance: Option<PyReadonlyArray1<'_, f32>>) -> Result<()> {
        let importance = importance.as_ref().map(elements).transpose()?;
        Ok(process::detached(py, || self.write().set_importance(importance.map(<[f32]>::to_vec)))?)
    }

    /// Returns the importance of the errors in each column, if set.
    fn importance<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        process::detached(py, || self.read().importance().map(<[f32]>::to_vec)).map(|all| all.into_pyarray(py))
    }

    /// Drops a version.
    fn clear(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        process::detached(py, || self.read().clear(format));
        Ok(())
    }

    /// Returns the size of each copy in bytes: the master, then the versions.
    fn memory(&self, py: Python<'_>) -> Vec<(String, usize)> {
        let memory = process::detached(py, || self.read().memory());
        memory.into_iter().map(|(format, bytes)| (full_name(format), bytes)).collect()
    }

    /// Returns `x · weightsᵀ` in a format, for rows `x` of the same length as the rows of the weights.
    fn multiply<'py>(&self, py: Python<'py>, x: Floats<'py>, format: &str) -> Result<Bound<'py, PyArray1<f32>>> {
        let (format, (rows, cols)) = (parse(format)?, matrix(&self.shape));
        let (batch, width) = matrix(x.shape());
        if width != cols {
            return Err(Raised::input(format!("x has rows of {width} values, but the weights have rows of {cols}")));
        }
        let x = elements(&x)?;
        let product = process::detached(py, || -> Result<Vec<f32>> {
            let store = self.read();
            let mut out = vec![0.0; batch * rows];
            match store.get_or_create(format)? {
                Active::Master(weights) => multiply_f32(x, weights, ProductShape { batch, rows, cols }, &mut out)?,
                Active::Version(version) => version.multiply(x, &mut out)?,
            }
            Ok(out)
        })?;
        Ok(product.into_pyarray(py))
    }
}
