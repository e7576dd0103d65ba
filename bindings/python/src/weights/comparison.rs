//! `WeightComparison`: comparison of two model files, and of two networks.

use std::sync::Arc;

use bitgrain::nn::ModelFile;
use bitgrain::nn::model::compare::{self, ModelComparison};
use bitgrain::nn::model::convert::{FormatChoice, Recipe};
use bitgrain::nn::model::plan::{Goal, candidates, plan, progress_total};
use bitgrain::nn::model::report::{Report, TradeOff, html};
use bitgrain::nn::network::NetworkComparison;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::figures::figures;
use super::record::record;
use super::watch::watched;
use crate::error::{Raised, Result};

/// Comparison of two model files.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightComparison {
    first: Arc<ModelFile>,
    second: Arc<ModelFile>,
    comparison: ModelComparison,
}

pub(super) fn compare(
    py: Python<'_>,
    first: &Arc<ModelFile>,
    second: &Arc<ModelFile>,
    notify: Option<&Bound<'_, PyAny>>,
) -> Result<WeightComparison> {
    let total = compare::progress_total(first, second);
    let comparison = watched(py, total, notify, |watch| Ok(compare::compare(first, second, watch)?))?;
    if comparison.tensors.is_empty() && comparison.skipped.is_empty() {
        return Err(Raised::input("the models have no tensor name in common"));
    }
    Ok(WeightComparison { first: Arc::clone(first), second: Arc::clone(second), comparison })
}

#[pymethods]
impl WeightComparison {
    /// Returns the comparison as a dictionary.
    fn as_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let ModelComparison { tensors, overall, only_in_first, only_in_second, skipped, first_bytes, second_bytes } =
            &self.comparison;
        let rows = PyList::empty(py);
        for tensor in tensors {
            rows.append(record!(py, {
                name: &tensor.name,
                shape: &tensor.shape,
                first: &tensor.first,
                second: &tensor.second,
                first_bytes: tensor.first_bytes,
                second_bytes: tensor.second_bytes,
                error: figures(py, tensor.figures)?,
                optimum_db: tensor.optimum_db,
                limit_db: tensor.limit_db,
                histograms: &tensor.histograms[..],
                range: tensor.range,
            }))?;
        }
        Ok(record!(py, {
            tensors: rows,
            overall: figures(py, *overall)?,
            only_in_first: only_in_first,
            only_in_second: only_in_second,
            skipped: skipped,
            first_bytes: first_bytes,
            second_bytes: second_bytes,
        }))
    }

    /// Renders an HTML page; with `trade_off`, measures the error of the first model at other sizes for it.
    #[pyo3(signature = (first, second, trade_off, notify=None))]
    fn html(
        &self,
        py: Python<'_>,
        first: &str,
        second: &str,
        trade_off: bool,
        notify: Option<&Bound<'_, PyAny>>,
    ) -> Result<String> {
        let (formats, recipe) = (candidates(self.second.container()), Recipe::new(FormatChoice::Keep));
        let total = if trade_off { progress_total(&self.first, &formats, &recipe) } else { 0 };
        watched(py, total, notify, |watch| {
            let goal = Goal::Budget(u64::MAX);
            let plan = trade_off.then(|| plan(&self.first, self.second.container(), &formats, goal, &recipe, watch));
            let plan = plan.transpose()?;
            let curve = match &plan {
                Some(plan) => TradeOff::Measured { plan, candidates: &formats },
                None => TradeOff::Missing("not requested"),
            };
            Ok(html(&Report { first, second, comparison: &self.comparison, curve, predictions: &[] }))
        })
    }
}

/// Converts the comparison of two networks to a dictionary.
pub(super) fn network_comparison<'py>(py: Python<'py>, comparison: &NetworkComparison) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyList::empty(py);
    for parameter in &comparison.parameters {
        rows.append(record!(py, {
            name: &parameter.name,
            first: &parameter.first,
            second: &parameter.second,
            first_bytes: parameter.first_bytes,
            second_bytes: parameter.second_bytes,
            error: figures(py, parameter.figures)?,
        }))?;
    }
    let outputs = match &comparison.outputs {
        Some(agreement) => Some(record!(py, {
            error: figures(py, agreement.figures)?,
            mean_cosine: agreement.mean_cosine,
            same_choice: agreement.same_choice,
        })),
        None => None,
    };
    Ok(record!(py, { parameters: rows, overall: figures(py, comparison.overall)?, outputs: outputs }))
}
