//! Conversion of hyperparameters; the engine's parameter table checks them.

use bitgrain::gbdt::feature::Quantizer;
use bitgrain::gbdt::parameter::{
    HyperParameter, PARAMETERS, ParameterError, ParameterKind, ParameterSet, ParameterStage, ParameterValue, find,
};
use bitgrain::gbdt::train::Params;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::{Raised, Result};

/// A dictionary of parameters by name or alias.
pub(super) struct Settings(ParameterSet);

impl Settings {
    pub(super) fn params(&self) -> Result<Params> {
        self.0.only(ParameterStage::Training)?;
        Ok(self.0.params()?)
    }

    pub(super) fn quantizer(&self) -> Result<Quantizer> {
        Ok(self.0.quantizer()?)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Settings {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let mut given = ParameterSet::default();
        for (name, object) in object.cast::<PyDict>()?.iter() {
            let name: String = name.extract()?;
            // Types are checked here, because the engine would parse the string "5" as a number.
            let parameter = find(&name).map_err(Raised::from)?;
            let value = match (parameter.kind, object.extract::<Vec<f64>>()) {
                (ParameterKind::Numbers, Ok(numbers)) => {
                    ParameterValue::String(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
                }
                _ => value(&name, &object)?,
            };
            if let (
                ParameterValue::String(_),
                ParameterKind::Integer | ParameterKind::OptionalInteger | ParameterKind::Flag,
            ) = (&value, parameter.kind)
            {
                return Err(Raised::from(parameter.invalid(&name, &value, true)).into());
            }
            given.insert(&name, value).map_err(Raised::from)?;
        }
        Ok(Self(given))
    }
}

impl From<ParameterError> for Raised {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Invalid { wrong_type: true, .. } => Self::dtype(error),
            error => Self::input(error),
        }
    }
}

/// Converts an object to a parameter value; other types than numbers and strings are represented by JSON if the
/// parameter is structured, and by their `repr` otherwise.
fn value(name: &str, object: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    if object.is_none() {
        return Ok(ParameterValue::Unset);
    }
    if find(name).is_ok_and(|parameter| matches!(parameter.kind, ParameterKind::Structured(_)))
        && let Some(text) = structured(object)?
    {
        return Ok(ParameterValue::String(text));
    }
    if let Ok(flag) = object.extract::<bool>() {
        return Ok(ParameterValue::Flag(flag));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(ParameterValue::String(text.to_string_lossy().into_owned()));
    }
    // Through `__index__` and `__float__`, so that NumPy scalars are accepted.
    if let Ok(integer) = object.extract::<i128>() {
        return Ok(ParameterValue::Integer(integer));
    }
    if let Ok(number) = object.extract::<f64>() {
        return Ok(ParameterValue::Number(number));
    }
    Ok(ParameterValue::String(object.repr()?.to_string_lossy().into_owned()))
}

/// Converts a path to a string, and a list, a dictionary or an array to JSON; `None` for other types.
fn structured(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if object.cast::<PyString>().is_ok() {
        return Ok(None);
    }
    if object.hasattr("__fspath__")? {
        return object.call_method0("__fspath__")?.extract().map(Some);
    }
    if object.hasattr("__iter__")? { json(object, 0).map(Some) } else { Ok(None) }
}

/// Levels of nested lists and dictionaries; the engine's JSON parser has the same limit.
const MAX_LEVELS: usize = 128;

/// Converts nested lists and dictionaries to JSON. Unlike Python's `json`, it accepts NumPy arrays and scalars, and sets.
fn json(object: &Bound<'_, PyAny>, level: usize) -> PyResult<String> {
    if level > MAX_LEVELS {
        return Err(Raised::input(format!("a value has more than {MAX_LEVELS} levels; use fewer levels")).into());
    }
    let quoted = |text: &Bound<'_, PyAny>| object.py().import("json")?.call_method1("dumps", (text,))?.extract();
    if let Ok(dict) = object.cast::<PyDict>() {
        let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!("{}:{}", quoted(key.str()?.as_any())?, json(&value, level + 1)?))
        };
        let pairs: PyResult<Vec<String>> = dict.iter().map(pair).collect();
        return Ok(format!("{{{}}}", pairs?.join(",")));
    }
    if object.cast::<PyString>().is_ok() {
        return quoted(object);
    }
    if let Ok(items) = object.try_iter() {
        let items: PyResult<Vec<String>> = items.map(|item| json(&item?, level + 1)).collect();
        return Ok(format!("[{}]", items?.join(",")));
    }
    if object.is_none() {
        return Ok("null".to_owned());
    }
    if let Ok(flag) = object.extract::<bool>() {
        return Ok(flag.to_string());
    }
    if let Ok(integer) = object.extract::<i128>() {
        return Ok(integer.to_string());
    }
    match object.extract::<f64>() {
        Ok(number) => Ok(format!("{number:?}")),
        Err(_) => quoted(object.repr()?.as_any()),
    }
}

/// Returns the parameters of a dictionary by canonical name, with the objects as given. Two names of one parameter
/// must agree; ranges are not checked. `objective` is the objective if it is given elsewhere.
#[pyfunction]
#[pyo3(signature = (given, objective=None))]
pub(crate) fn resolve_parameters<'py>(
    given: &Bound<'py, PyDict>,
    objective: Option<&str>,
) -> Result<Bound<'py, PyDict>> {
    let mut names = ParameterSet::default();
    let resolved = PyDict::new(given.py());
    for (name, object) in given.iter() {
        let name = name.extract::<String>()?;
        let parameter = names.insert(&name, value(&name, &object)?)?;
        if !resolved.contains(parameter.name)? {
            resolved.set_item(parameter.name, object)?;
        }
    }
    let own = names.get("objective").map(ToString::to_string);
    if let Some(objective) = objective.map(str::to_owned).or(own) {
        names.check_objective(&objective)?;
    }
    Ok(resolved)
}

/// Checks types, ranges and conflicts of training parameters.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a dictionary in Python")]
pub(crate) fn check_parameters(settings: Settings) -> Result<()> {
    settings.params().map(drop)
}

/// Returns the parameter table: name, aliases, stage, default, accepted values and help of each parameter.
#[pyfunction]
pub(crate) fn parameters(py: Python<'_>) -> Result<Vec<Bound<'_, PyDict>>> {
    PARAMETERS.iter().map(|parameter| described(py, parameter)).collect()
}

fn described<'py>(py: Python<'py>, parameter: &HyperParameter) -> Result<Bound<'py, PyDict>> {
    let stage = match parameter.stage {
        ParameterStage::Training => "training",
        ParameterStage::Binning => "binning",
        ParameterStage::Run => "run",
    };
    let entry = PyDict::new(py);
    entry.set_item("name", parameter.name)?;
    entry.set_item("aliases", parameter.aliases)?;
    entry.set_item("stage", stage)?;
    match (parameter.default)() {
        ParameterValue::Flag(flag) => entry.set_item("default", flag)?,
        ParameterValue::Integer(integer) => entry.set_item("default", integer)?,
        ParameterValue::Number(number) => entry.set_item("default", number)?,
        ParameterValue::String(text) => entry.set_item("default", text)?,
        _ => entry.set_item("default", py.None())?,
    }
    entry.set_item("takes", parameter.takes())?;
    entry.set_item("help", parameter.help)?;
    Ok(entry)
}
