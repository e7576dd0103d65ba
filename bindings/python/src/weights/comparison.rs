//! `WeightComparison`: what is different between two models, and between two networks.

use std::sync::Arc;

use bitgrain::nn::Model;
use bitgrain::nn::compare::{self, Comparison};
use bitgrain::nn::convert::{Choice, Recipe};
use bitgrain::nn::network::NetworkComparison;
use bitgrain::nn::plan::{Goal, candidates, plan, work};
use bitgrain::nn::report::{Curve, Report, html};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::figures::figures;
use super::watch::watched;
use crate::error::{Raised, Result};

/// Two models, compared.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightComparison {
    first: Arc<Model>,
    second: Arc<Model>,
    comparison: Comparison,
}

pub(super) fn compare(
    py: Python<'_>,
    first: &Arc<Model>,
    second: &Arc<Model>,
    notify: Option<&Bound<'_, PyAny>>,
) -> Result<WeightComparison> {
    let total = compare::work(first, second);
    let comparison = watched(py, total, notify, |watch| Ok(compare::compare(first, second, watch)?))?;
    if comparison.tensors.is_empty() && comparison.skipped.is_empty() {
        return Err(Raised::input("the two models have no tensor of the same name"));
    }
    Ok(WeightComparison { first: Arc::clone(first), second: Arc::clone(second), comparison })
}

#[pymethods]
impl WeightComparison {
    /// Everything, as a dictionary.
    fn as_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let Comparison { tensors, overall, only_in_first, only_in_second, skipped, first_bytes, second_bytes } =
            &self.comparison;
        let rows = PyList::empty(py);
        for tensor in tensors {
            let row = PyDict::new(py);
            row.set_item("name", &tensor.name)?;
            row.set_item("shape", &tensor.shape)?;
            row.set_item("first", &tensor.first)?;
            row.set_item("second", &tensor.second)?;
            row.set_item("first_bytes", tensor.first_bytes)?;
            row.set_item("second_bytes", tensor.second_bytes)?;
            row.set_item("error", figures(py, tensor.figures)?)?;
            row.set_item("optimum_db", tensor.optimum_db)?;
            row.set_item("limit_db", tensor.limit_db)?;
            row.set_item("histograms", &tensor.histograms[..])?;
            row.set_item("range", tensor.range)?;
            rows.append(row)?;
        }
        let out = PyDict::new(py);
        out.set_item("tensors", rows)?;
        out.set_item("overall", figures(py, *overall)?)?;
        out.set_item("only_in_first", only_in_first)?;
        out.set_item("only_in_second", only_in_second)?;
        out.set_item("skipped", skipped)?;
        out.set_item("first_bytes", first_bytes)?;
        out.set_item("second_bytes", second_bytes)?;
        Ok(out)
    }

    /// An HTML page; with `trade_off` the sizes that the first model could have are measured for it.
    #[pyo3(signature = (first, second, trade_off, notify=None))]
    fn html(
        &self,
        py: Python<'_>,
        first: &str,
        second: &str,
        trade_off: bool,
        notify: Option<&Bound<'_, PyAny>>,
    ) -> Result<String> {
        let (formats, recipe) = (candidates(self.second.container()), Recipe::new(Choice::Keep));
        let total = if trade_off { work(&self.first, &formats, &recipe) } else { 0 };
        watched(py, total, notify, |watch| {
            let goal = Goal::Budget(u64::MAX);
            let plan = trade_off.then(|| plan(&self.first, self.second.container(), &formats, goal, &recipe, watch));
            let plan = plan.transpose()?;
            let curve = match &plan {
                Some(plan) => Curve::Measured { plan, candidates: &formats },
                None => Curve::Missing("it was not asked for"),
            };
            Ok(html(&Report { first, second, comparison: &self.comparison, curve }))
        })
    }
}

/// Two networks, compared.
pub(super) fn network_comparison<'py>(py: Python<'py>, comparison: &NetworkComparison) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyList::empty(py);
    for parameter in &comparison.parameters {
        let row = PyDict::new(py);
        row.set_item("name", &parameter.name)?;
        row.set_item("first", &parameter.first)?;
        row.set_item("second", &parameter.second)?;
        row.set_item("first_bytes", parameter.first_bytes)?;
        row.set_item("second_bytes", parameter.second_bytes)?;
        row.set_item("error", figures(py, parameter.figures)?)?;
        rows.append(row)?;
    }
    let out = PyDict::new(py);
    out.set_item("parameters", rows)?;
    out.set_item("overall", figures(py, comparison.overall)?)?;
    let outputs = match &comparison.outputs {
        Some(agreement) => {
            let outputs = PyDict::new(py);
            outputs.set_item("error", figures(py, agreement.figures)?)?;
            outputs.set_item("mean_cosine", agreement.mean_cosine)?;
            outputs.set_item("same_choice", agreement.same_choice)?;
            Some(outputs)
        }
        None => None,
    };
    out.set_item("outputs", outputs)?;
    Ok(out)
}
