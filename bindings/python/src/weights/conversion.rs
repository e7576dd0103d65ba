//! Quantization of models to files: conversion of arguments and results.

use std::path::{Path, PathBuf};

use bitgrain::codec::weight::WeightFormat;
use bitgrain::nn::model::convert::{
    Conversion, FormatChoice, FormatOptions, Recipe, Scheme, quantize, quantize_checkpoint, scheme_format,
};
use bitgrain::nn::model::plan::{self, Goal, PrecisionPlan, candidates};
use bitgrain::nn::{Container, ImportanceMatrix, ModelFile};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::figures::figures;
use super::format::{parse, parse_choice, parse_policy};
use super::record::record;
use super::watch::{Watch, watched};
use crate::error::{Raised, Result};

/// Arguments of a conversion.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Orders {
    /// Name of a format, or `keep`.
    to: String,
    /// Patterns with formats; the first match applies.
    rules: Vec<(String, String)>,
    budget: Option<u64>,
    max_rmse: Option<f64>,
    /// Formats to choose from; empty for the default candidates.
    candidates: Vec<String>,
    /// Plan file: written if there is a goal, otherwise read.
    plan: Option<PathBuf>,
    importance: Option<PathBuf>,
    non_finite: String,
    shard_bytes: Option<u64>,
    /// Name of a scheme of compressed-tensors; the output is then a folder.
    scheme: Option<String>,
    group: Option<usize>,
    calibrate: Option<String>,
}

impl Orders {
    fn goal(&self) -> Option<Goal> {
        self.budget.map(Goal::Budget).or(self.max_rmse.map(Goal::MaxError))
    }

    fn recipe(&self, model: &ModelFile) -> Result<Recipe> {
        let mut recipe = Recipe::new(parse_choice(&self.to)?);
        for (pattern, choice) in &self.rules {
            model.matching(pattern)?;
            recipe = recipe.rule(pattern, parse_choice(choice)?);
        }
        recipe.non_finite = parse_policy(&self.non_finite)?;
        if let Some(bytes) = self.shard_bytes {
            recipe.shard_bytes = bytes;
        }
        Ok(recipe)
    }
}

impl Orders {
    /// Returns an error if an importance file is given but no selected format uses it.
    fn reject_unused_importance(&self, candidates: &[WeightFormat]) -> Result<()> {
        let mut choices = vec![parse_choice(&self.to)?];
        for (_, choice) in &self.rules {
            choices.push(parse_choice(choice)?);
        }
        match (self.goal(), &self.plan) {
            (Some(_), _) => choices.extend(candidates.iter().map(|format| FormatChoice::To(*format))),
            (None, Some(file)) => {
                let plan = PrecisionPlan::load(file)?;
                choices.extend(plan.formats.values().chain(plan.others.values()).copied());
            }
            (None, None) => {}
        }
        if choices.iter().any(|choice| matches!(choice, FormatChoice::To(format) if format.uses_importance())) {
            return Ok(());
        }
        let mut names: Vec<String> = choices.iter().map(ToString::to_string).collect();
        names.dedup();
        Err(Raised::input(format!(
            "importance has no effect on {}; choose q4_0 to q6_k, iq4_nl, or a dtype with calibrate='mse', or omit it",
            names.join(", ")
        )))
    }
}

pub(super) fn convert<'py>(
    py: Python<'py>,
    model: &ModelFile,
    path: PathBuf,
    orders: &Orders,
    notify: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyDict>> {
    let mut recipe = orders.recipe(model)?;
    if let Some(scheme) = &orders.scheme {
        let done = watched(py, model.bytes(), notify, |watch| in_scheme(model, &path, scheme, orders, recipe, watch))?;
        return Ok(as_dict(py, None, &done)?);
    }
    let container = Container::of_output(&path)?;
    let formats = match &orders.candidates[..] {
        [] => candidates(container),
        names => names.iter().map(|name| parse(name)).collect::<Result<_>>()?,
    };
    let measured = if orders.goal().is_some() { plan::progress_total(model, &formats, &recipe) } else { 0 };
    let total = measured.saturating_add(model.bytes());
    let (planned, done) = watched(py, total, notify, |watch| {
        if let Some(file) = &orders.importance {
            orders.reject_unused_importance(&formats)?;
            recipe.importance = Some(importance(file, model)?);
        }
        let planned = planned(model, container, &formats, orders, &recipe, watch)?;
        if let Some(planned) = &planned {
            recipe = planned.apply(model, recipe)?;
        }
        let done = quantize(model, &path, &recipe, watch)?;
        Ok((planned, done))
    })?;
    Ok(as_dict(py, planned.as_ref(), &done)?)
}

/// Writes a folder in a scheme of compressed-tensors.
fn in_scheme(
    model: &ModelFile,
    folder: &Path,
    scheme: &str,
    orders: &Orders,
    mut recipe: Recipe,
    watch: &Watch,
) -> Result<Conversion> {
    let scheme: Scheme = scheme.parse().map_err(Raised::input)?;
    let calibration = orders.calibrate.as_ref().map(|how| how.parse()).transpose()?;
    let options = FormatOptions { scale: None, group: orders.group, calibration };
    let format = scheme_format(scheme, &options).map_err(Raised::input)?;
    if let Some(file) = &orders.importance {
        if !format.uses_importance() {
            let name = scheme.name();
            return Err(Raised::input(format!("importance has no effect on {name}; pass calibrate='mse', or omit it")));
        }
        recipe.importance = Some(importance(file, model)?);
    }
    Ok(quantize_checkpoint(model, folder, (scheme, format), recipe, watch)?)
}

fn importance(file: &Path, model: &ModelFile) -> Result<ImportanceMatrix> {
    let importance = ImportanceMatrix::open(file)?;
    if importance.covers(model) == 0 {
        let file = file.display();
        return Err(Raised::input(format!("{file}: no importances for the tensors of this model")));
    }
    Ok(importance)
}

/// Returns the plan: computed and saved, or loaded.
fn planned(
    model: &ModelFile,
    container: Container,
    formats: &[WeightFormat],
    orders: &Orders,
    recipe: &Recipe,
    watch: &Watch,
) -> Result<Option<PrecisionPlan>> {
    let made = match (orders.goal(), &orders.plan) {
        (Some(goal), _) => plan::plan(model, container, formats, goal, recipe, watch)?,
        (None, Some(file)) => return Ok(Some(PrecisionPlan::load(file)?)),
        (None, None) => return Ok(None),
    };
    if let Some(file) = &orders.plan {
        made.save(file)?;
    }
    Ok(Some(made))
}

fn as_dict<'py>(py: Python<'py>, plan: Option<&PrecisionPlan>, done: &Conversion) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyList::empty(py);
    for tensor in &done.tensors {
        rows.append(record!(py, {
            name: &tensor.name,
            shape: &tensor.shape,
            source: &tensor.from,
            target: &tensor.to,
            bytes_before: tensor.bytes_before,
            bytes_after: tensor.bytes_after,
            error: tensor.figures.map(|lost| figures(py, lost)).transpose()?,
            remark: &tensor.remark,
        }))?;
    }
    Ok(record!(py, {
        tensors: rows,
        overall: figures(py, done.overall)?,
        tensor_rmse: done.tensor_rmse,
        bytes_before: done.bytes_before,
        bytes_after: done.bytes_after,
        file_bytes: done.file_bytes,
        plan: plan.map(|plan| plan_dict(py, plan)).transpose()?,
    }))
}

fn plan_dict<'py>(py: Python<'py>, plan: &PrecisionPlan) -> PyResult<Bound<'py, PyDict>> {
    let formats = PyDict::new(py);
    for (name, choice) in plan.formats.iter().chain(&plan.others) {
        formats.set_item(name, FormatChoice::to_string(choice))?;
    }
    let curve: Vec<(u64, f64)> = plan.curve.iter().map(|point| (point.bytes, point.relative_rmse)).collect();
    Ok(record!(py, {
        formats: formats,
        bytes: plan.bytes,
        relative_rmse: plan.relative_rmse,
        curve: curve,
    }))
}
