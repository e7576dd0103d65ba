//! Conversion of a model file's metadata.

use bitgrain::formats::gguf::{Array, Value};
use bitgrain::nn::model::ModelMetadata;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::error::{Raised, Result};

/// Returns all entries in file order.
pub(super) fn entries<'py>(py: Python<'py>, metadata: &ModelMetadata) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (key, value) in metadata.gguf.iter() {
        out.set_item(key, object(py, value)?)?;
    }
    for (key, text) in metadata.user_strings() {
        out.set_item(key, text)?;
    }
    Ok(out)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::U8(v) => v.into_pyobject(py)?.into_any(),
        Value::I8(v) => v.into_pyobject(py)?.into_any(),
        Value::U16(v) => v.into_pyobject(py)?.into_any(),
        Value::I16(v) => v.into_pyobject(py)?.into_any(),
        Value::U32(v) => v.into_pyobject(py)?.into_any(),
        Value::I32(v) => v.into_pyobject(py)?.into_any(),
        Value::U64(v) => v.into_pyobject(py)?.into_any(),
        Value::I64(v) => v.into_pyobject(py)?.into_any(),
        Value::F32(v) => PyFloat::new(py, f64::from(*v)).into_any(),
        Value::F64(v) => PyFloat::new(py, *v).into_any(),
        Value::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        Value::String(v) => PyString::new(py, v).into_any(),
        Value::Array(array) => list(py, array)?.into_any(),
    })
}

fn list<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyList>> {
    match array {
        Array::U8(v) => PyList::new(py, v),
        Array::I8(v) => PyList::new(py, v),
        Array::U16(v) => PyList::new(py, v),
        Array::I16(v) => PyList::new(py, v),
        Array::U32(v) => PyList::new(py, v),
        Array::I32(v) => PyList::new(py, v),
        Array::U64(v) => PyList::new(py, v),
        Array::I64(v) => PyList::new(py, v),
        Array::F32(v) => PyList::new(py, v),
        Array::F64(v) => PyList::new(py, v),
        Array::Bool(v) => PyList::new(py, v),
        Array::String(v) => PyList::new(py, v.iter().collect::<Vec<_>>()),
    }
}

/// Returns the metadata of a new file: typed values for GGUF, strings for safetensors.
pub(super) fn metadata(given: &Bound<'_, PyDict>, gguf: bool) -> Result<ModelMetadata> {
    let mut metadata = ModelMetadata::default();
    for (key, value) in given.iter() {
        let key: String = key.extract().map_err(|_| Raised::dtype("metadata keys must be strings"))?;
        if gguf {
            metadata.gguf.set(key.clone(), self::value(&key, &value)?);
        } else {
            let text = value.extract::<String>().map_err(|_| {
                Raised::dtype(format!("metadata[\"{key}\"] is not a string, which safetensors files require"))
            })?;
            metadata.strings.push((key, text));
        }
    }
    Ok(metadata)
}

fn value(key: &str, given: &Bound<'_, PyAny>) -> Result<Value> {
    let wrong = || {
        Raised::dtype(format!(
            "metadata[\"{key}\"] must be a bool, int, float or str, or a list of one of them, not {}",
            given.get_type()
        ))
    };
    // bool is a subclass of int in Python, so it is checked first.
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        return integer(given).ok_or_else(wrong);
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        return Ok(Value::F64(number.value()));
    }
    if let Ok(text) = given.extract::<String>() {
        return Ok(Value::String(text));
    }
    let list = given.cast::<PyList>().map_err(|_| wrong())?;
    let array = if let Ok(flags) = list.extract::<Vec<bool>>() {
        Array::Bool(flags)
    } else if let Ok(numbers) = list.extract::<Vec<i32>>() {
        Array::I32(numbers)
    } else if let Ok(numbers) = list.extract::<Vec<i64>>() {
        Array::I64(numbers)
    } else if let Ok(numbers) = list.extract::<Vec<f64>>() {
        Array::F64(numbers)
    } else {
        Array::String(list.extract::<Vec<String>>().map_err(|_| wrong())?.into_iter().collect())
    };
    Ok(Value::Array(array))
}

/// Returns the number in the smallest of the common GGUF types that can represent it.
fn integer(given: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(value) = given.extract::<u32>() {
        return Some(Value::U32(value));
    }
    if let Ok(value) = given.extract::<i32>() {
        return Some(Value::I32(value));
    }
    if let Ok(value) = given.extract::<u64>() {
        return Some(Value::U64(value));
    }
    given.extract::<i64>().ok().map(Value::I64)
}
