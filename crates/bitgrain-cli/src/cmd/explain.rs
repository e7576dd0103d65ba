//! `bitgrain explain`: SHAP values of a tree model for the rows of a table.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bitgrain::gbdt::explain::Explainer;
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::table::{FileFormat, Matrix, ReadOptions, Table, TableError};
use serde::Serialize;

use super::predict::ensure_not_input;
use crate::error::CliError;
use crate::number::digits;
use crate::threads::on_threads;

/// Explain predictions: divide the raw score of each row among the features (exact SHAP values).
///
/// Prints the mean absolute contribution of each feature, or writes the contributions of every row to a file: one column
/// per feature and a column `expected` with the expected score, which sum to the raw score of the row. For models of
/// several classes, column names start with the class. Unknown values follow the training rows (path-dependent values,
/// as in LightGBM and XGBoost), or the rows of a background table (interventional values).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain explain houses.bitgrain new.csv
  bitgrain explain houses.bitgrain new.csv -o contributions.csv
  bitgrain explain lightgbm.txt rows.parquet --background rows.parquet --json
  bitgrain explain houses.bitgrain new.csv --interactions -o pairs.parquet")]
pub(crate) struct Args {
    /// Model file: bitgrain, LightGBM (text) or XGBoost (JSON, UBJSON).
    model: PathBuf,
    /// Table: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Output file for the values of every row: .csv, .tsv or .parquet [default: print a summary].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Background table for interventional SHAP values; about 100 rows are typical.
    #[arg(long, value_name = "FILE")]
    background: Option<PathBuf>,
    /// Compute the interaction of each pair of features; columns are named `first*second`.
    #[arg(long)]
    interactions: bool,
    /// Treat the first line of a CSV file as data.
    #[arg(long)]
    no_header: bool,
    /// Number of threads [default: all cores]; the values do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the summary as JSON.
    #[arg(long, conflicts_with = "output")]
    json: bool,
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

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let format = args.output.as_deref().map(|path| (path, FileFormat::of_name(path)));
    if let Some((path, None | Some(FileFormat::Libsvm))) = format {
        return Err(TableError::UnknownOutput { path: path.to_owned() }.into());
    }
    if let Some(path) = &args.output {
        ensure_not_input(path, [&args.data, &args.model].into_iter().chain(&args.background))?;
    }
    let (model, rows, values) = on_threads(args.threads, || explained(args))??;
    if let Some(path) = &args.output {
        let names = (0..model.n_outputs()).flat_map(|output| names(args, &model, output)).collect();
        return Ok(Table::from_rows(&values, names)?.write(path)?);
    }
    let report = summary(args, &model, rows, &values);
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?);
    }
    for output in &report.outputs {
        if let Some(class) = &output.class {
            writeln!(out, "class {class}")?;
        }
        let what = if args.interactions { "features" } else { "feature" };
        let mut table = crate::table::Table::new(&[what, "mean |contribution|", "mean"], 1);
        for Contribution { name, mean_absolute, mean } in &output.contributions {
            table.row([name.clone(), digits(*mean_absolute), digits(*mean)]);
        }
        writeln!(out, "{table}\nexpected score {}\n", digits(output.expected))?;
    }
    Ok(writeln!(out, "{rows} rows, {} trees", model.trees.len())?)
}

/// Returns the model, the number of rows and their values.
fn explained(args: &Args) -> Result<(Model, usize, Vec<f64>), CliError> {
    let model = Model::load(&args.model)?;
    let matrix = read(args, &args.data, &model)?;
    let background = args.background.as_deref().map(|path| read(args, path, &model)).transpose()?;
    let explainer = match &background {
        Some(background) if background.n_rows() == 0 => {
            return Err(CliError::NoRows { path: args.background.clone().unwrap_or_default() });
        }
        Some(background) => Explainer::with_background(&model, &background.features()?)?,
        None => Explainer::new(&model)?,
    };
    if matrix.n_rows() == 0 {
        return Err(CliError::NoRows { path: args.data.clone() });
    }
    let features = matrix.features()?;
    let values =
        if args.interactions { explainer.interactions(&features)? } else { explainer.contributions(&features)? };
    drop((features, explainer));
    Ok((model, matrix.n_rows(), values))
}

/// Reads the model's columns, with the precision in which the model compares values.
fn read(args: &Args, path: &Path, model: &Model) -> Result<Matrix, CliError> {
    let options = ReadOptions { header: args.no_header.then_some(false), ..ReadOptions::for_model(model) };
    Ok(Table::read_with(path, &options)?.align(&model.schema())?)
}

/// Column names of one score.
fn names(args: &Args, model: &Model, output: usize) -> Vec<String> {
    let features = || model.inputs.iter().map(|input| input.name.as_str()).chain(["expected"]);
    let prefix = if model.n_outputs() > 1 { format!("{}:", model.output.class_label(output)) } else { String::new() };
    if args.interactions {
        features().flat_map(|a| features().map(|b| format!("{prefix}{a}*{b}")).collect::<Vec<_>>()).collect()
    } else {
        features().map(|name| format!("{prefix}{name}")).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
fn summary(args: &Args, model: &Model, rows: usize, values: &[f64]) -> Report {
    let (n_values, n_outputs) = (model.n_inputs() + 1, model.n_outputs());
    let n_columns = if args.interactions { n_values * n_values } else { n_values };
    let per_row = n_columns * n_outputs;
    let outputs = (0..n_outputs).map(|output| {
        let column = |at: usize| values[output * n_columns + at..].iter().step_by(per_row);
        // Each pair once, and without the row and the column of the expected score.
        let counts = |at: usize| {
            let (first, second) = (at / n_values, at % n_values);
            if args.interactions { first <= second && second + 1 < n_values } else { at + 1 < n_values }
        };
        let both = |at: usize| if args.interactions && at / n_values != at % n_values { 2.0 } else { 1.0 };
        let label = |at: usize| {
            let name = |feature: usize| model.inputs[feature].name.clone();
            let (first, second) = (at / n_values, at % n_values);
            match args.interactions {
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
