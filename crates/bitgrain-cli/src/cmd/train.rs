//! `bitgrain train`: trains gradient-boosted trees on a table.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::table::Fold;

use crate::boost::data::{Source, TableFile};
use crate::boost::outcome::Outcome;
use crate::boost::settings::{Settings, spellings};
use crate::boost::training::train;
use crate::error::CliError;
use crate::threads::on_threads;

/// Train gradient-boosted trees on a CSV, Parquet or libsvm table.
///
/// The task is inferred from the target: strings and small sets of integers are class labels, and other numbers are
/// regression targets. String columns are categorical features. Missing values are supported.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:
  bitgrain train houses.csv --target price --model houses.bitgrain
  bitgrain train clicks.parquet --target clicked --model clicks.bitgrain --valid-fraction 0.2 --early-stopping-rounds 20
  bitgrain train train.csv --target y --valid valid.csv --model m.bitgrain --n-estimators 500 --learning-rate 0.05
  bitgrain train a.csv --target y --model m.bitgrain --growth symmetric   faster prediction
  bitgrain train new.csv --target y --continue m.bitgrain --model m2.bitgrain   add trees to a model",
    allow_negative_numbers = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Output file for the model; with the extension .json, a readable dump that cannot be loaded.
    #[arg(long, value_name = "OUT")]
    model: PathBuf,
    /// Validation table, evaluated after every round.
    #[arg(long, value_name = "FILE", conflicts_with = "valid_fraction")]
    valid: Option<PathBuf>,
    /// Fraction of the rows to hold out for validation, stratified by class.
    #[arg(long, value_name = "F")]
    valid_fraction: Option<f64>,
    /// Model to add trees to, trained by Bitgrain or XGBoost.
    #[arg(long = "continue", value_name = "MODEL")]
    base: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Number of threads [default: all cores]; the model does not depend on it.
    #[arg(long, value_name = "N", aliases = spellings("n_jobs", "threads"))]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    on_threads(args.threads, || trained(args))??.write(args.json, out)
}

/// Report of the command.
struct Report {
    json: serde_json::Value,
    text: Vec<u8>,
}

impl Report {
    fn write(&self, json: bool, out: &mut impl Write) -> Result<(), CliError> {
        if json {
            return Ok(writeln!(out, "{:#}", self.json)?);
        }
        Ok(out.write_all(&self.text)?)
    }
}

fn trained(args: &Args) -> Result<Report, CliError> {
    if let Some(fraction) = args.valid_fraction.filter(|fraction| !(*fraction > 0.0 && *fraction < 1.0)) {
        return Err(CliError::ValidFraction { fraction });
    }
    let params = args.settings.params(None)?;
    if params.early_stopping_rounds.is_some() && args.valid.is_none() && args.valid_fraction.is_none() {
        return Err(CliError::NothingToWatch);
    }
    ensure_output_is_not_input(args)?;
    super::predict::check_output_path(&args.model)?;
    let base = args.base.as_ref().map(Model::load).transpose()?;
    let all = args.source.read(base.as_ref())?;
    all.print_reason();
    let (learned, valid) = split_validation(args, all, params.seed)?;
    let trained = train(&args.source, &args.settings, &learned, valid.as_ref(), base.as_ref())?;
    save(&trained.training.model, &args.model)?;
    let file_bytes = fs::metadata(&args.model).map_or(0, |file| file.len());
    let valid_rows = valid.as_ref().map_or(0, |valid| valid.table.matrix().n_rows());
    let outcome = Outcome { learned: &learned, valid_rows, trained: &trained, path: &args.model, file_bytes };
    let mut text = Vec::new();
    outcome.write_text(&mut text)?;
    Ok(Report { json: outcome.to_json(), text })
}

/// Returns the training data, and the validation data if requested.
fn split_validation(args: &Args, all: TableFile, seed: u64) -> Result<(TableFile, Option<TableFile>), CliError> {
    if let Some(path) = &args.valid {
        let valid = args.source.read_like(path, &all)?;
        return Ok((all, Some(valid)));
    }
    let Some(fraction) = args.valid_fraction else { return Ok((all, None)) };
    let fold = Fold::hold_out(all.table.matrix().n_rows(), all.table.strata(), fraction, seed);
    Ok((all.select(&fold.train), Some(all.select(&fold.valid))))
}

/// Saves a model in Bitgrain's format, or as JSON if the extension is .json.
pub(super) fn save(model: &Model, path: &Path) -> Result<(), CliError> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return Ok(model.save_json(path)?);
    }
    Ok(model.save(path)?)
}

fn ensure_output_is_not_input(args: &Args) -> Result<(), CliError> {
    let inputs = [Some(&args.source.data), args.valid.as_ref()];
    super::predict::ensure_not_input(&args.model, inputs.into_iter().flatten())
}
