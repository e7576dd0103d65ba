//! Conversion of search options and results.

use bitgrain::store::{SearchHit, SearchOptions, SearchResult};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::id::Id;
use crate::error::Result;

/// Options of a search, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct SearchSettings {
    metric: String,
    prefix: Option<String>,
    ids: Option<Vec<Id>>,
    filter: Vec<(String, String)>,
    exact: bool,
    approximate: bool,
}

impl SearchSettings {
    pub(super) fn options(self) -> Result<SearchOptions> {
        Ok(SearchOptions {
            metric: self.metric.parse()?,
            prefix: self.prefix,
            ids: self.ids.map(|ids| ids.into_iter().map(|id| id.0).collect()),
            filter: self.filter,
            exact: self.exact,
            approximate: self.approximate,
        })
    }
}

/// Fields of `SearchResult`.
#[derive(IntoPyObject)]
pub(super) struct Answers<'py> {
    ids: Vec<Id>,
    rows: Bound<'py, PyArray1<u64>>,
    scores: Bound<'py, PyArray1<f64>>,
    low: Bound<'py, PyArray1<f64>>,
    high: Bound<'py, PyArray1<f64>>,
    proven: Bound<'py, PyArray1<bool>>,
    tiers: Vec<&'static str>,
    certified: usize,
    skipped: usize,
}

impl<'py> Answers<'py> {
    pub(super) fn new(py: Python<'py>, result: SearchResult) -> Self {
        let SearchResult { hits, certified, skipped } = result;
        let scores = |of: fn(&SearchHit) -> f64| hits.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
        Self {
            rows: hits.iter().map(|hit| hit.row as u64).collect::<Vec<u64>>().into_pyarray(py),
            scores: scores(|hit| hit.score),
            low: scores(|hit| hit.low),
            high: scores(|hit| hit.high),
            proven: hits.iter().map(|hit| hit.certified).collect::<Vec<bool>>().into_pyarray(py),
            tiers: hits.iter().map(|hit| hit.tier.name()).collect(),
            ids: hits.into_iter().map(|hit| Id(hit.id)).collect(),
            certified,
            skipped,
        }
    }
}
