//! `bitgrain predict`: predictions of a tree model for the rows of a table.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bitgrain::files::same_file;
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::predict::Predictor;
use bitgrain::gbdt::table::{Column, ColumnData, FileFormat, Matrix, ReadOptions, StringColumn, Table, TableError};

use crate::boost::data::read_table;
use crate::error::CliError;
use crate::threads::on_threads;

/// Predict with a tree model: bitgrain, LightGBM (text) or XGBoost (JSON, UBJSON).
///
/// Columns are matched by name, and additional columns are ignored. Strings that did not occur in training count as
/// missing values. The output has a column `prediction` for regression, with the probability of the second class for
/// binary classification, and a column `probability_<class>` per class for multiclass models.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain predict houses.bitgrain new.csv -o prices.csv
  bitgrain predict lightgbm.txt rows.parquet -o scores.parquet
  bitgrain predict clicks.bitgrain rows.csv --class > classes.csv
  bitgrain predict xgboost.ubj rows.csv --leaf -o leaves.parquet")]
pub(crate) struct Args {
    /// Model file.
    model: PathBuf,
    /// Table: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm; - reads standard input.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Output file: .csv, .tsv or .parquet [default: CSV on standard output].
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Output raw scores, before the link function.
    #[arg(long, conflicts_with_all = ["leaf", "class"])]
    raw: bool,
    /// Output the leaf index of every tree.
    #[arg(long, conflicts_with = "class")]
    leaf: bool,
    /// Output the most probable class instead of probabilities.
    #[arg(long)]
    class: bool,
    /// Treat the first line of a CSV file as data.
    #[arg(long)]
    no_header: bool,
    /// Number of threads [default: all cores]; the predictions do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let format = args.output.as_deref().map(|path| (path, FileFormat::of_name(path)));
    if let Some((path, None | Some(FileFormat::Libsvm))) = format {
        return Err(TableError::UnknownOutput { path: path.to_owned() }.into());
    }
    if let Some(path) = &args.output {
        ensure_not_input(path, [&args.data, &args.model])?;
    }
    let table = on_threads(args.threads, || predicted(args))??;
    match &args.output {
        Some(path) => Ok(table.write(path)?),
        None => Ok(table.write_csv(out)?),
    }
}

fn predicted(args: &Args) -> Result<Table, CliError> {
    let model = Model::load(&args.model)?;
    if args.class && !model.output.is_classifier() {
        return Err(CliError::NoClasses { path: args.model.clone() });
    }
    let start = Instant::now();
    let matrix = read(args, &model)?;
    let reading = start.elapsed();
    let start = Instant::now();
    let table = if matrix.n_rows() == 0 { none(args, &model)? } else { columns(args, &model, &matrix)? };
    if args.output.is_some() {
        eprintln!(
            "{} rows, {} trees: read in {:.2} s, predicted in {:.2} s",
            matrix.n_rows(),
            model.trees.len(),
            reading.as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
    }
    Ok(table)
}

/// Reads the model's columns, with the precision in which the model compares values.
fn read(args: &Args, model: &Model) -> Result<Matrix, CliError> {
    let options = ReadOptions { header: args.no_header.then_some(false), ..ReadOptions::for_model(model) };
    Ok(read_table(&args.data, &options)?.align(&model.schema())?)
}

fn columns(args: &Args, model: &Model, matrix: &Matrix) -> Result<Table, CliError> {
    let predictor = Predictor::new(model)?;
    let features = matrix.features()?;
    if args.leaf {
        let trees = predictor.n_trees();
        let leaves = predictor.leaves(&features)?;
        let values: Vec<f64> = leaves.into_iter().map(f64::from).collect();
        return Ok(Table::from_rows(&values, tree_names(trees))?);
    }
    if args.raw {
        return Ok(Table::from_rows(&predictor.raw(&features)?, model.output.column_names("score", "score"))?);
    }
    if args.class {
        let choices = predictor.class_indices(&features)?;
        let labels: Vec<_> = choices.iter().map(|&class| model.output.class_label(class as usize)).collect();
        let labels = StringColumn::new(labels.iter().map(|label| Some(&**label)));
        return Ok(Table::new(vec![Column { name: "class".to_owned(), data: ColumnData::Strings(labels) }])?);
    }
    let predictions = predictor.predict(&features)?;
    Ok(Table::from_rows(&predictions, model.output.column_names("prediction", "probability"))?)
}

/// Returns the output columns for a table without rows.
fn none(args: &Args, model: &Model) -> Result<Table, CliError> {
    let names = match (args.leaf, args.raw, args.class) {
        (true, ..) => tree_names(model.trees.len()),
        (_, true, _) => model.output.column_names("score", "score"),
        (.., true) => vec!["class".to_owned()],
        _ => model.output.column_names("prediction", "probability"),
    };
    Ok(Table::from_rows(&[], names)?)
}

fn tree_names(trees: usize) -> Vec<String> {
    (0..trees).map(|tree| format!("tree_{tree}")).collect()
}

/// Fails early, before the work is done, if the output cannot become a file.
pub(super) fn check_output_path(output: &Path) -> Result<(), CliError> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let reason = match output.metadata() {
        Ok(old) if old.is_file() => return Ok(()),
        Ok(old) if old.is_dir() => "it is a folder; choose a file".to_owned(),
        Ok(_) => "it is a device or a pipe; choose a file".to_owned(),
        Err(_) if folder.is_dir() => return Ok(()),
        Err(_) => format!("`{}` is not a folder; create it first", folder.display()),
    };
    Err(CliError::Place { path: output.to_owned(), reason })
}

/// Fails if the output is one of the inputs.
pub(super) fn ensure_not_input<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CliError> {
    if inputs.into_iter().any(|input| same_file(input, output)) {
        return Err(CliError::OverInput { path: output.to_owned() });
    }
    Ok(())
}
