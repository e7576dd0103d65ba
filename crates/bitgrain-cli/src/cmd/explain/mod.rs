//! `bitgrain explain`: SHAP values, partial dependence and permutation importance of a tree model.

mod contributions;
mod partial;
mod permutation;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::table::{FileFormat, Matrix, ReadOptions, Table, TableError};

use super::predict::ensure_not_input;
use crate::error::CliError;
use crate::printable::printable;
use crate::threads::on_threads;

/// Explain a model: SHAP values of each row, partial dependence, or permutation importance.
///
/// By default, attributes the raw score of each row to the features (exact SHAP values) and prints the mean absolute
/// contribution of each feature. With an output file, writes the contributions of every row: one column per feature and
/// a column `expected` with the expected score, which sum to the raw score of the row. For models of several classes,
/// column names start with the class. Absent features are averaged over the training rows (path-dependent values, as in
/// LightGBM and XGBoost) or over the rows of a background table (interventional values).
///
/// `--partial` prints the mean prediction when one or two columns are set to each of several values. `--permutation`
/// prints how much a metric deteriorates when the values of a column are shuffled.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain explain houses.bitgrain new.csv
  bitgrain explain houses.bitgrain new.csv -o contributions.csv
  bitgrain explain lightgbm.txt rows.parquet --background rows.parquet --json
  bitgrain explain houses.bitgrain new.csv --interactions -o pairs.parquet
  bitgrain explain houses.bitgrain houses.csv --partial area
  bitgrain explain houses.bitgrain houses.csv --partial area,rooms --grid 10 -o surface.csv
  bitgrain explain houses.bitgrain houses.csv --partial area --ice --centered -o curves.csv
  bitgrain explain houses.bitgrain houses.csv --permutation --target price --metric mae --repeats 10")]
pub(crate) struct Args {
    /// Model file: bitgrain, LightGBM (text) or XGBoost (JSON, UBJSON).
    model: PathBuf,
    /// Table: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Output file: .csv, .tsv or .parquet; for SHAP values, the values of every row [default: print a summary].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    contributions: contributions::ContributionOptions,
    #[command(flatten)]
    partial: partial::PartialArgs,
    #[command(flatten)]
    permutation: permutation::PermutationOptions,
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

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let format = args.output.as_deref().map(|path| (path, FileFormat::of_name(path)));
    if let Some((path, None | Some(FileFormat::Libsvm))) = format {
        return Err(TableError::UnknownOutput { path: path.to_owned() }.into());
    }
    if let Some(path) = &args.output {
        ensure_not_input(path, [&args.data, &args.model].into_iter().chain(args.contributions.background()))?;
    }
    let text = on_threads(args.threads, || -> Result<Vec<u8>, CliError> {
        let (model, mut text) = (Model::load(&args.model)?, Vec::new());
        if args.partial.is_requested() {
            partial::run(args, &model, &mut text)?;
        } else if args.permutation.is_requested() {
            permutation::run(args, &model, &mut text)?;
        } else {
            contributions::run(args, &model, &mut text)?;
        }
        if let Some(path) = &args.output {
            writeln!(text, "wrote {}", printable(&path.display().to_string()))?;
        }
        Ok(text)
    })??;
    Ok(out.write_all(&text)?)
}

/// Reads the model's columns of a table that must have rows.
fn read(args: &Args, path: &Path, model: &Model) -> Result<Matrix, CliError> {
    let matrix = Table::read_with(path, &options(args, model))?.align(&model.schema())?;
    if matrix.n_rows() == 0 {
        return Err(CliError::NoRows { path: path.to_owned() });
    }
    Ok(matrix)
}

/// Returns options that read the model's columns, with the precision in which the model compares values.
fn options(args: &Args, model: &Model) -> ReadOptions {
    ReadOptions { header: args.no_header.then_some(false), ..ReadOptions::for_model(model) }
}
