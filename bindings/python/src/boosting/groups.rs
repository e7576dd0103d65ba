//! Queries of a ranking task.

use bitgrain::gbdt::metric::{MetricInput, by_name};
use bitgrain::gbdt::train::CrossValidation;
use bitgrain::gbdt::{GroupError, Groups};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::{Raised, Result};

/// Query of each row, or the number of rows of each query.
#[derive(FromPyObject)]
pub(super) enum Queries<'py> {
    Ids(PyReadonlyArray1<'py, i64>),
    Sizes(PyReadonlyArray1<'py, u64>),
    Names(Vec<Option<String>>),
}

impl Queries<'_> {
    /// Returns the queries of some rows.
    pub(super) fn groups(&self, rows: usize) -> Result<Groups> {
        let check = |ids: usize| if ids == rows { Ok(()) } else { Err(GroupError::IdCount { ids, rows }) };
        match self {
            Self::Sizes(sizes) => {
                let size = |size: &u64| usize::try_from(*size).unwrap_or(usize::MAX);
                let sizes: Vec<usize> = sizes.as_slice().map_err(PyErr::from)?.iter().map(size).collect();
                Ok(Groups::from_sizes(&sizes, rows)?)
            }
            Self::Ids(ids) => {
                let ids = ids.as_slice().map_err(PyErr::from)?;
                check(ids.len())?;
                Ok(Groups::from_ids(ids.iter())?)
            }
            Self::Names(names) => {
                check(names.len())?;
                match names.iter().position(Option::is_none) {
                    Some(row) => Err(GroupError::Missing { row }.into()),
                    None => Ok(Groups::from_ids(names.iter().flatten())?),
                }
            }
        }
    }
}

impl From<GroupError> for Raised {
    fn from(error: GroupError) -> Self {
        Self::input(error)
    }
}

/// Returns the fold of each row; queries are never divided.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn query_folds<'py>(
    py: Python<'py>,
    queries: Queries<'py>,
    rows: usize,
    folds: usize,
    seed: u64,
) -> Result<Bound<'py, PyArray1<usize>>> {
    let groups = queries.groups(rows)?;
    let folds = CrossValidation { folds, stratified: false, seed }.assign_queries(&groups)?;
    Ok(folds.into_pyarray(py))
}

/// Evaluates a metric of queries.
#[pyfunction]
#[pyo3(signature = (metric, targets, predictions, queries, weights=None))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn query_metric(
    metric: &str,
    targets: PyReadonlyArray1<'_, f64>,
    predictions: PyReadonlyArray1<'_, f64>,
    queries: Queries<'_>,
    weights: Option<PyReadonlyArray1<'_, f32>>,
) -> Result<f64> {
    let targets = targets.as_slice().map_err(PyErr::from)?;
    let groups = queries.groups(targets.len())?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(PyErr::from)?;
    let predictions = predictions.as_slice().map_err(PyErr::from)?;
    Ok(by_name(metric)?.evaluate(&MetricInput { targets, weights, predictions, groups: Some(&groups) })?)
}
