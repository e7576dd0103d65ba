//! Borrowed NumPy arrays and sparse matrices.

use bitgrain::gbdt::feature::{Absent, FeatureError, Features};
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::columns::Columns;
use crate::error::{Raised, Result};

/// A feature matrix owned by Python.
pub(super) enum Source<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    /// Row offsets, column indices, values and number of features.
    Sparse(PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f32>, usize),
    Columns(Bound<'py, Columns>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyArray2<f32>>() {
            return Ok(Self::F32(array.try_readonly()?));
        }
        if let Ok(array) = object.cast::<PyArray2<f64>>() {
            return Ok(Self::F64(array.try_readonly()?));
        }
        if let Ok(columns) = object.cast::<Columns>() {
            return Ok(Self::Columns(columns.to_owned()));
        }
        if object.cast::<PyUntypedArray>().is_err()
            && let Ok((row_ptr, columns, values, n_features)) = object.extract()
        {
            return Ok(Self::Sparse(row_ptr, columns, values, n_features));
        }
        Err(Raised::dtype("features must be a 2-D array of float32 or float64, the parts of a CSR matrix, or Columns")
            .into())
    }
}

impl Source<'_> {
    /// Returns a view of the features, without a copy.
    pub(super) fn features(&self) -> Result<Features<'_>> {
        match self {
            Self::F32(array) => Ok(dense(array, array.as_slice().map_err(PyErr::from)?)?),
            Self::F64(array) => Ok(dense(array, array.as_slice().map_err(PyErr::from)?)?),
            Self::Sparse(row_ptr, columns, values, n_features) => {
                let row_ptr = row_ptr.as_slice().map_err(PyErr::from)?;
                let columns = columns.as_slice().map_err(PyErr::from)?;
                let values = values.as_slice().map_err(PyErr::from)?;
                Ok(Features::sparse(row_ptr, columns, values, *n_features, Absent::Zero)?)
            }
            Self::Columns(columns) => Ok(columns.get().features()?),
        }
    }

    /// Returns the values as f64 if there is a single dense row, otherwise `None`.
    pub(super) fn single_row(&self) -> Option<Vec<f64>> {
        match self {
            Self::F32(array) if array.shape()[0] == 1 => {
                array.as_slice().ok().map(|row| row.iter().map(|&value| f64::from(value)).collect())
            }
            Self::F64(array) if array.shape()[0] == 1 => array.as_slice().ok().map(<[f64]>::to_vec),
            _ => None,
        }
    }

    /// Returns the number of rows.
    pub(super) fn n_rows(&self) -> usize {
        match self {
            Self::F32(array) => array.shape()[0],
            Self::F64(array) => array.shape()[0],
            Self::Sparse(row_ptr, ..) => row_ptr.len().saturating_sub(1),
            Self::Columns(columns) => columns.get().n_rows(),
        }
    }
}

/// Wraps `values` in the memory order of `array`.
fn dense<'a, 'py: 'a, T: numpy::Element>(
    array: &PyReadonlyArray2<'py, T>,
    values: &'a [T],
) -> std::result::Result<Features<'a>, FeatureError>
where
    &'a [T]: Into<bitgrain::gbdt::feature::Values<'a>>,
{
    let &[n_rows, n_features] = array.shape() else {
        return Err(FeatureError::Empty { rows: 0, features: 0 });
    };
    if array.is_c_contiguous() {
        Features::row_major(values, n_rows, n_features)
    } else {
        Features::column_major(values, n_rows, n_features)
    }
}
