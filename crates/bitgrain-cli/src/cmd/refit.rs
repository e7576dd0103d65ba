//! `bitgrain refit`: fits the leaf values of a tree model to new rows.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bitgrain::gbdt::model::{Model, ModelFormat};
use bitgrain::gbdt::table::{ColumnRoles, ReadOptions};
use bitgrain::gbdt::train::{Refit, RefitData};

use crate::boost::data::{ColumnOptions, STDIN, read_table, with_options};
use crate::error::CliError;
use crate::printable::printable;
use crate::threads::on_threads;

/// Fit the leaf values of a tree model to new rows, with its trees kept.
///
/// Each leaf becomes the mixture of its old value and of the value that training would give it for the new rows, as in
/// LightGBM's refit. Columns are matched by name. The model may come from LightGBM or XGBoost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain refit houses.bitgrain this-year.csv --target price -o refitted.bitgrain
  bitgrain refit houses.bitgrain this-year.csv --target price -o refitted.bitgrain --decay-rate 0.5
  bitgrain refit lightgbm.txt labeled.parquet --target y -o refitted.txt
  bitgrain refit xgboost.ubj labeled.parquet --target y -o refitted.ubj --learning-rate 0.3")]
pub(crate) struct Args {
    /// Model file.
    model: PathBuf,
    /// Table with the new rows: .csv or .tsv (optionally gzipped), .parquet, .libsvm or .svm; - reads the standard input.
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Output file for the refitted model; its extension selects the format, as in `convert-model`.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    columns: ColumnOptions,
    /// Weight of the old leaf values, from 0 to 1.
    #[arg(long, value_name = "F", default_value_t = 0.9, aliases = ["decay_rate", "refit-decay-rate", "refit_decay_rate"])]
    decay_rate: f64,
    /// Learning rate of all trees [default: that of each tree in training].
    #[arg(long, value_name = "F", aliases = ["learning_rate", "eta"])]
    learning_rate: Option<f64>,
    /// L1 penalty on leaf values.
    #[arg(long, value_name = "F", default_value_t = 0.0, aliases = ["reg_alpha", "lambda-l1", "lambda_l1"])]
    reg_alpha: f64,
    /// L2 penalty on leaf values.
    #[arg(long, value_name = "F", default_value_t = 0.0, aliases = ["reg_lambda", "lambda-l2", "lambda_l2"])]
    reg_lambda: f64,
    /// Maximum absolute value of a leaf before the learning rate; 0 is unlimited.
    #[arg(long, value_name = "F", default_value_t = 0.0, aliases = ["max_delta_step"])]
    max_delta_step: f64,
    /// Number of threads [default: all cores]; the model does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let inputs = [&args.model, &args.data];
    super::predict::ensure_not_input(
        &args.output,
        inputs.into_iter().filter(|path| path.as_path() != Path::new(STDIN)),
    )?;
    super::predict::check_output_path(&args.output)?;
    let (rows, model) = on_threads(args.threads, || refitted(args))??;
    model.save_as(&args.output, ModelFormat::of_path(&args.output))?;
    let (trees, path) = (model.trees.len(), args.output.display().to_string());
    Ok(writeln!(out, "fitted the leaves of {trees} trees to {rows} rows: {}", printable(&path))?)
}

/// Returns the number of rows and the refitted model.
fn refitted(args: &Args) -> Result<(usize, Model), CliError> {
    let model = Model::load(&args.model)?;
    let own = args.columns.read_options();
    let roles = args.columns.roles();
    let mut options = ReadOptions { header: own.header, skip: own.skip, ..ReadOptions::for_model(&model) };
    options.text.extend(own.text);
    if let Some(only) = &mut options.only {
        only.extend([&roles.target, &roles.weight, &roles.group, &roles.position].into_iter().flatten().cloned());
    }
    let table = read_table(&args.data, &options)?;
    let objective = roles.objective.clone().or_else(|| Some(model.output.objective.clone()));
    let table = table.into_training(&ColumnRoles { objective, ..roles }, Some(&model)).map_err(with_options)?;
    let features = table.matrix().features()?;
    let data = RefitData {
        features: &features,
        targets: table.target().values.clone().into(),
        weights: table.training_weights()?,
        groups: table.groups().cloned(),
    };
    let Args { decay_rate, learning_rate, reg_alpha, reg_lambda, max_delta_step, .. } = *args;
    let refit = Refit { decay_rate, learning_rate, reg_alpha, reg_lambda, max_delta_step };
    Ok((table.matrix().n_rows(), refit.run(&model, table.objective()?, data)?))
}
