//! Conversion of tensor ids.

use bitgrain::store::TensorId;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::Raised;

/// An id: a string, or an integer below 2^128.
pub(super) struct Id(pub(super) TensorId);

impl<'a, 'py> FromPyObject<'a, 'py> for Id {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.cast::<PyString>() {
            let name =
                name.to_str().map_err(|_| Raised::input("an id must be valid Unicode, without lone surrogates"))?;
            return Ok(Self(TensorId::from(name)));
        }
        let kind = || -> PyResult<String> { Ok(value.get_type().name()?.to_string()) };
        if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
            return Err(Raised::dtype(format_args!("an id must be a str or an int, not {}", kind()?)).into());
        }
        match value.extract::<u128>() {
            Ok(number) => Ok(Self(TensorId::from(number))),
            Err(_) => {
                Err(Raised::input(format_args!("id {} is out of range: it must be in 0..2**128", value.str()?)).into())
            }
        }
    }
}

impl<'py> IntoPyObject<'py> for Id {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self.0 {
            TensorId::Name(name) => Ok(PyString::new(py, &name).into_any()),
            TensorId::Number(number) => number.into_bound_py_any(py),
        }
    }
}
