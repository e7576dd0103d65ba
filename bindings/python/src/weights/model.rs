//! `WeightModel`: an open model file, or tensors in memory to be written to one.

use std::path::PathBuf;
use std::sync::Arc;

use bitgrain::codec::weight::{DType, PartsBuf};
use bitgrain::nn::model::merge_adapter;
use bitgrain::nn::model::stats::stats;
use bitgrain::nn::{ModelFile, ModelTensor, TensorEncoding};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::comparison::{WeightComparison, compare};
use super::conversion::{self, Orders};
use super::elements;
use super::format::parse;
use super::metadata::{entries, metadata};
use super::record::record;
use super::tensor::WeightTensor;
use crate::error::{Raised, Result};
use crate::process;

/// An open model. Values are read on demand.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightModel {
    model: Arc<ModelFile>,
}

/// A tensor in memory: name, shape, format, whether it holds integers, codes, scales, zero points.
type Given<'py> =
    (String, Vec<u64>, String, bool, PyReadonlyArray1<'py, u8>, PyReadonlyArray1<'py, f32>, PyReadonlyArray1<'py, u8>);

/// Codes, scales and zero points.
type Arrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<u8>>);

impl WeightModel {
    fn tensor(&self, name: &str) -> Result<&ModelTensor> {
        Ok(self.model.tensor(name)?)
    }
}

#[pymethods]
impl WeightModel {
    /// Opens a file, the index of a sharded model, or a directory with either.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> Result<Self> {
        Ok(Self { model: Arc::new(process::detached(py, || ModelFile::open(path))?) })
    }

    /// Creates a model from tensors in memory, with metadata for a GGUF or safetensors file.
    #[staticmethod]
    fn of(tensors: Vec<Given<'_>>, metadata: &Bound<'_, PyDict>, gguf: bool) -> Result<Self> {
        let tensor = |(name, shape, storage, integers, codes, scales, zeros): Given<'_>| {
            let parts = PartsBuf {
                codes: elements(&codes)?.to_vec(),
                scales: elements(&scales)?.to_vec(),
                zeros: elements(&zeros)?.to_vec(),
            };
            let storage =
                if integers { integer_encoding(&storage)? } else { TensorEncoding::Weights(parse(&storage)?) };
            Ok(ModelTensor::new(name, shape, storage, parts)?)
        };
        let tensors = tensors.into_iter().map(tensor).collect::<Result<Vec<_>>>()?;
        Ok(Self { model: Arc::new(ModelFile::of(tensors, self::metadata(metadata, gguf)?)) })
    }

    /// Returns the model with the LoRA adapter in a directory merged.
    fn merged(&self, py: Python<'_>, adapter: PathBuf) -> Result<Self> {
        Ok(Self { model: Arc::new(process::detached(py, || merge_adapter(&self.model, &adapter))?) })
    }

    /// Returns the names of the tensors in file order.
    fn names(&self) -> Vec<String> {
        self.model.tensors().iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Returns shape, format, size in bytes and bits per weight of a tensor, and whether it can be dequantized.
    fn about(&self, name: &str) -> Result<(Vec<u64>, String, u64, f64, bool)> {
        let tensor = self.tensor(name)?;
        let weights = tensor.storage.format().is_some();
        Ok((tensor.shape.clone(), tensor.storage.to_string(), tensor.bytes(), tensor.bits_per_weight(), weights))
    }

    /// Returns the path of the opened file; empty for tensors in memory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.model.path().to_owned()
    }

    /// Returns the files that contain the tensors.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.model.files().into_iter().map(ToOwned::to_owned).collect()
    }

    /// Returns the container format.
    #[getter]
    fn container(&self) -> &'static str {
        self.model.container().name()
    }

    /// Returns the architecture according to the `config.json` next to the weights.
    #[getter]
    fn architecture(&self) -> Option<String> {
        self.model.metadata().architecture.clone()
    }

    /// Returns the total size of the tensors in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.model.bytes()
    }

    /// Returns the total number of values in the tensors.
    #[getter]
    fn size(&self) -> u64 {
        self.model.elements()
    }

    /// Returns the metadata of the file.
    fn metadata<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        Ok(entries(py, self.model.metadata())?)
    }

    /// Returns the values of a tensor as f32.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyArray1<f32>>> {
        let tensor = self.tensor(name)?;
        Ok(process::detached(py, || tensor.values())?.into_pyarray(py))
    }

    /// Returns the stored arrays of a tensor.
    fn parts<'py>(&self, py: Python<'py>, name: &str) -> Result<Arrays<'py>> {
        let tensor = self.tensor(name)?;
        let PartsBuf { codes, scales, zeros } = process::detached(py, || tensor.parts())?;
        Ok((codes.into_pyarray(py), scales.into_pyarray(py), zeros.into_pyarray(py)))
    }

    /// Reads the codes of a tensor into memory.
    fn quantized(&self, py: Python<'_>, name: &str) -> Result<WeightTensor> {
        let tensor = self.tensor(name)?;
        let quantized = process::detached(py, || tensor.quantized())?;
        let dims = tensor.shape.iter().map(|dim| usize::try_from(*dim));
        let shape = dims.collect::<std::result::Result<_, _>>().map_err(Raised::input)?;
        Ok(WeightTensor { tensor: Arc::new(quantized), shape })
    }

    /// Computes moments and a histogram of a tensor's values.
    fn stats<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyDict>> {
        let tensor = self.tensor(name)?;
        let found = process::detached(py, || stats(tensor, &()))?;
        Ok(record!(py, {
            count: found.count,
            min: found.min,
            max: found.max,
            mean: found.mean,
            std: found.std,
            zeros: found.zeros,
            non_finite: found.non_finite,
            histogram: found.histogram,
        }))
    }

    /// Writes the model in other formats and returns a report.
    #[pyo3(signature = (path, orders, notify=None))]
    fn convert<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        orders: Orders,
        notify: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyDict>> {
        conversion::convert(py, &self.model, path, &orders, notify)
    }

    /// Compares the model with another one.
    #[pyo3(signature = (other, notify=None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, Self>,
        notify: Option<&Bound<'py, PyAny>>,
    ) -> Result<WeightComparison> {
        compare(py, &self.model, &other.get().model, notify)
    }
}

/// Returns the encoding of a NumPy integer dtype, which is stored unchanged.
fn integer_encoding(name: &str) -> Result<TensorEncoding> {
    if name == "bool" {
        return Ok(TensorEncoding::Integers { dtype: DType::Uint8, name: "BOOL" });
    }
    let dtype: DType = name.parse()?;
    TensorEncoding::integers(dtype).ok_or_else(|| Raised::dtype(format!("{name} is not an integer dtype")))
}
