//! `WeightTensor`: quantized tensors.

use std::sync::Arc;

use bitgrain::codec::CodecErr;
use bitgrain::codec::weight::{PartsBuf, QuantizedTensor, WeightFormat};
use bitgrain::nn::network::matrix as whole;
use bitgrain::nn::network::weights::Version;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::figures::figures;
use super::format::{full_name, parse, parse_policy};
use super::{Floats, elements, matrix};
use crate::error::{Raised, Result};
use crate::process;

/// An immutable quantized tensor.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightTensor {
    pub(super) tensor: Arc<QuantizedTensor>,
    pub(super) shape: Vec<usize>,
}

#[pymethods]
impl WeightTensor {
    /// Quantizes an array along its last axis and returns the error as well.
    #[staticmethod]
    #[pyo3(signature = (values, format, importance=None, non_finite="reject"))]
    fn quantize<'py>(
        py: Python<'py>,
        values: Floats<'py>,
        format: &str,
        importance: Option<PyReadonlyArray1<'py, f32>>,
        non_finite: &str,
    ) -> Result<(Self, Bound<'py, PyDict>)> {
        let (format, policy) = (parse(format)?, parse_policy(non_finite)?);
        let shape = values.shape().to_vec();
        let given = elements(&values)?;
        let importance = importance.as_ref().map(elements).transpose()?;
        let (_, cols) = matrix(&shape);
        let (tensor, lost) = process::detached(py, || {
            let cleaned = whole::replace_non_finite(given, cols, policy);
            let values = cleaned.as_deref().unwrap_or(given);
            let tensor = whole::quantize(format, values, cols, importance)
                .map_err(|error| refused(error, format, &shape, values))?;
            let lost = whole::fidelity(&tensor, values)?;
            if lost.max_error.is_infinite() {
                return Err(overflow(format, tensor));
            }
            Ok((tensor, lost))
        })?;
        Ok((Self { tensor: Arc::new(tensor), shape }, figures(py, lost.into())?))
    }

    /// Creates a tensor from codes, scales and zero points.
    #[staticmethod]
    fn from_parts(
        format: &str,
        shape: Vec<usize>,
        codes: PyReadonlyArray1<'_, u8>,
        scales: PyReadonlyArray1<'_, f32>,
        zeros: PyReadonlyArray1<'_, u8>,
    ) -> Result<Self> {
        let (rows, cols) = matrix(&shape);
        let parts = PartsBuf {
            codes: elements(&codes)?.to_vec(),
            scales: elements(&scales)?.to_vec(),
            zeros: elements(&zeros)?.to_vec(),
        };
        Ok(Self { tensor: Arc::new(QuantizedTensor::from_parts(parse(format)?, rows, cols, parts)?), shape })
    }

    /// Returns the packed codes or blocks, row by row.
    fn codes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        self.tensor.parts().codes.to_vec().into_pyarray(py)
    }

    /// Returns the scales, row by row.
    fn scales<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        self.tensor.parts().scales.to_vec().into_pyarray(py)
    }

    /// Returns the packed zero points, row by row.
    fn zeros<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        self.tensor.parts().zeros.to_vec().into_pyarray(py)
    }

    /// Decodes the weights.
    fn dequantize<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f32>>> {
        Ok(process::detached(py, || whole::dequantize(&self.tensor))?.into_pyarray(py))
    }

    /// Measures the difference to an array.
    fn fidelity<'py>(&self, py: Python<'py>, original: Floats<'py>) -> Result<Bound<'py, PyDict>> {
        let original = elements(&original)?;
        let lost = process::detached(py, || whole::fidelity(&self.tensor, original))?;
        Ok(figures(py, lost.into())?)
    }

    /// Returns the full name of the format.
    #[getter]
    fn format(&self) -> String {
        full_name(self.tensor.format())
    }

    /// Returns the name of the format in files, without the calibration.
    #[getter]
    fn dtype(&self) -> String {
        self.tensor.format().to_string()
    }

    /// Returns the name of the code type.
    #[getter]
    fn code(&self) -> &'static str {
        self.tensor.format().name()
    }

    /// Returns the shape of the weights.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// Returns the size of codes, scales and zero points in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.tensor.bytes()
    }
}

/// Converts an error of quantizing an array to an exception, with a NumPy index.
fn refused(error: CodecErr, format: WeightFormat, shape: &[usize], values: &[f32]) -> Raised {
    match error {
        CodecErr::NonFinite { index } => {
            let value = values.get(index).copied().unwrap_or(f32::NAN);
            Raised::input(format!(
                "value at index {} is {value}, which {format} cannot represent; replace it with non_finite=\"zero\" or \
                 \"clamp\"",
                place(index, shape)
            ))
        }
        CodecErr::InputTooSmall { required } => {
            Raised::input(format!("importance must have one number per column: {required}"))
        }
        other => other.into(),
    }
}

/// Returns an error that names the first weight that became infinite.
fn overflow(format: WeightFormat, tensor: QuantizedTensor) -> Raised {
    match Version::new(format, tensor) {
        Err(error) => error.into(),
        Ok(_) => Raised::input(format!("{format} cannot represent these weights")),
    }
}

/// Formats an index as NumPy does: `(3, 7)`, or `5` for a vector.
fn place(index: usize, shape: &[usize]) -> String {
    let mut rest = index;
    let mut places: Vec<String> = Vec::with_capacity(shape.len());
    for dim in shape.iter().rev() {
        places.push((rest % dim.max(&1)).to_string());
        rest /= dim.max(&1);
    }
    places.reverse();
    if places.len() == 1 { places.remove(0) } else { format!("({})", places.join(", ")) }
}
