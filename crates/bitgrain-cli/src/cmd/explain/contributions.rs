//! SHAP values and interactions.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::gbdt::explain::Explainer;
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::table::Table;
use serde::Serialize;

use super::{Args, read};
use crate::error::CliError;
use crate::number::digits;

/// Options of SHAP values.
#[derive(Debug, clap::Args)]
pub(super) struct ContributionOptions {
    /// Background table for interventional SHAP values; about 100 rows are typical.
    #[arg(long, value_name = "FILE")]
    background: Option<PathBuf>,
    /// Compute the interaction of each pair of features; columns are named `first*second`.
    #[arg(long)]
    interactions: bool,
}

impl ContributionOptions {
    /// Path of the background table.
    pub(super) fn background(&self) -> Option<&PathBuf> {
        self.background.as_ref()
    }
}

#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    outputs: Vec<OutputReport>,
}

/// Summary of one score of the model.
#[derive(Debug, Serialize)]
struct OutputReport {
    /// Class label, if the model has several scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// Expected raw score.
    expected: f64,
    /// Features or pairs of features, by descending mean absolute contribution.
    contributions: Vec<Contribution>,
}

#[derive(Debug, Serialize)]
struct Contribution {
    name: String,
    mean_absolute: f64,
    mean: f64,
}

pub(super) fn run(args: &Args, model: &Model, out: &mut impl Write) -> Result<(), CliError> {
    let (rows, values) = explained(args, model)?;
    if let Some(path) = &args.output {
        let names = (0..model.n_outputs()).flat_map(|output| names(args, model, output)).collect();
        return Ok(Table::from_rows(&values, names)?.write(path)?);
    }
    let report = summary(args, model, rows, &values);
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?);
    }
    for output in &report.outputs {
        if let Some(class) = &output.class {
            writeln!(out, "class {class}")?;
        }
        let what = if args.contributions.interactions { "features" } else { "feature" };
        let mut table = crate::table::Table::new(&[what, "mean |contribution|", "mean"], 1);
        for Contribution { name, mean_absolute, mean } in &output.contributions {
            table.row([name.clone(), digits(*mean_absolute), digits(*mean)]);
        }
        writeln!(out, "{table}\nexpected score {}\n", digits(output.expected))?;
    }
    Ok(writeln!(out, "{rows} rows, {} trees", model.trees.len())?)
}

/// Returns the number of rows and their values.
fn explained(args: &Args, model: &Model) -> Result<(usize, Vec<f64>), CliError> {
    let ContributionOptions { background, interactions } = &args.contributions;
    let matrix = read(args, &args.data, model)?;
    let background = background.as_deref().map(|path| read(args, path, model)).transpose()?;
    let explainer = match &background {
        Some(background) => Explainer::with_background(model, &background.features()?)?,
        None => Explainer::new(model)?,
    };
    let features = matrix.features()?;
    let values = if *interactions { explainer.interactions(&features)? } else { explainer.contributions(&features)? };
    Ok((matrix.n_rows(), values))
}

/// Column names of one score.
fn names(args: &Args, model: &Model, output: usize) -> Vec<String> {
    let features = || model.inputs.iter().map(|input| input.name.as_str()).chain(["expected"]);
    let prefix = if model.n_outputs() > 1 { format!("{}:", model.output.class_label(output)) } else { String::new() };
    if args.contributions.interactions {
        features().flat_map(|a| features().map(|b| format!("{prefix}{a}*{b}")).collect::<Vec<_>>()).collect()
    } else {
        features().map(|name| format!("{prefix}{name}")).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
fn summary(args: &Args, model: &Model, rows: usize, values: &[f64]) -> Report {
    let (n_values, n_outputs) = (model.n_inputs() + 1, model.n_outputs());
    let n_columns = if args.contributions.interactions { n_values * n_values } else { n_values };
    let per_row = n_columns * n_outputs;
    let outputs = (0..n_outputs).map(|output| {
        let column = |at: usize| values[output * n_columns + at..].iter().step_by(per_row);
        // Each pair once, and without the row and the column of the expected score.
        let counts = |at: usize| {
            let (first, second) = (at / n_values, at % n_values);
            if args.contributions.interactions { first <= second && second + 1 < n_values } else { at + 1 < n_values }
        };
        let both =
            |at: usize| if args.contributions.interactions && at / n_values != at % n_values { 2.0 } else { 1.0 };
        let label = |at: usize| {
            let name = |feature: usize| model.inputs[feature].name.clone();
            let (first, second) = (at / n_values, at % n_values);
            match args.contributions.interactions {
                true if first != second => format!("{}*{}", name(first), name(second)),
                _ => name(second),
            }
        };
        let contribution = |at: usize| Contribution {
            name: label(at),
            mean_absolute: both(at) * column(at).map(|value| value.abs()).sum::<f64>() / rows as f64,
            mean: both(at) * column(at).sum::<f64>() / rows as f64,
        };
        let mut contributions: Vec<_> = (0..n_columns).filter(|&at| counts(at)).map(contribution).collect();
        contributions.sort_by(|a, b| b.mean_absolute.total_cmp(&a.mean_absolute));
        OutputReport {
            class: (n_outputs > 1).then(|| model.output.class_label(output).into_owned()),
            expected: values[(output + 1) * n_columns - 1],
            contributions,
        }
    });
    Report { rows, outputs: outputs.collect() }
}
