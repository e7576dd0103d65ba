//! `bitgrain train`: trains gradient-boosted trees on a table.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bitgrain::gbdt::Dataset;
use bitgrain::gbdt::model::{Model, ModelFormat};
use bitgrain::gbdt::table::{BinnedTable, Fold};

use crate::boost::data::{Learned, STDIN, Source, TableFile, with_options};
use crate::boost::outcome::Outcome;
use crate::boost::report;
use crate::boost::settings::{Settings, spellings};
use crate::boost::training::{Run, TrainingData, grow, train};
use crate::error::CliError;
use crate::printable::printable;
use crate::threads::on_threads;

/// Train gradient-boosted trees on a CSV, Parquet or libsvm table.
///
/// The task is inferred from the target: strings and small sets of integers are class labels, and other numbers are
/// regression targets. String columns are categorical features. Missing values are supported.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:
  bitgrain train houses.csv --target price --model houses.bitgrain
  bitgrain train clicks.parquet --target clicked --model clicks.bitgrain --valid-fraction 0.2 --early-stopping-rounds 20
  bitgrain train train.csv --target y --valid valid.csv --model m.bitgrain --n-estimators 500 --learning-rate 0.05
  bitgrain train a.csv --target y --model m.bitgrain --growth symmetric   faster prediction
  bitgrain train search.csv --target relevance --group query --model rank.bitgrain --metric ndcg@10
  bitgrain train houses.csv --target price --model m.bitgrain --monotone-constraints area:1,rooms:1
  bitgrain train houses.csv --target price --model houses.bitgrain --valid-fraction 0.2 --report report.html
  bitgrain train table.bins --model m.bitgrain --memory 2GB             bins stay in the file
  bitgrain train train.csv --target y --model m.bitgrain --params train.conf   also JSON or TOML
  cat train.csv | bitgrain train - --target y --model m.bitgrain
  bitgrain train new.csv --target y --continue m.bitgrain --model m2.bitgrain   add trees to a model",
    allow_negative_numbers = true
)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Output file for the model; its extension selects the format, as in `convert-model`.
    #[arg(long, value_name = "OUT")]
    model: PathBuf,
    /// Validation table, evaluated after every round.
    #[arg(long, value_name = "FILE", conflicts_with = "valid_fraction")]
    valid: Option<PathBuf>,
    /// Fraction of the rows to hold out for validation, stratified by class; with queries, a fraction of the queries.
    #[arg(long, value_name = "F")]
    valid_fraction: Option<f64>,
    /// Model to add trees to, trained by Bitgrain or XGBoost.
    #[arg(long = "continue", value_name = "MODEL")]
    base: Option<PathBuf>,
    /// HTML report to write: learning curves, importances, SHAP values, quality of the predictions, columns, trees. The
    /// training metrics are then evaluated as well.
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Maximum memory of the process, such as 2GB; the bins of a binned table then stay in its file [default: they are
    /// read into memory].
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    memory: Option<u64>,
    /// Number of threads [default: all cores]; the model does not depend on it.
    #[arg(long, value_name = "N", aliases = spellings("n_jobs", "threads"))]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let mut args = args.clone();
    let threads = args.source.complete(args.settings.read_file()?)?;
    if args.valid.as_deref() == Some(Path::new(STDIN)) {
        let problem = "--valid cannot be standard input".to_owned();
        return Err(CliError::Options { problem, fix: "use --valid-fraction, or a file" });
    }
    on_threads(args.threads.or(threads), || trained(&args))??.write(args.json, out)
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
    if let Some(report) = &args.report {
        super::predict::check_output_path(report)?;
        report::check_writable(report)?;
    }
    if BinnedTable::detect(&args.source.data) {
        return trained_on_bins(args);
    }
    if args.memory.is_some() {
        let problem = format!("--memory needs a binned table, and {} is not one", args.source.data.display());
        return Err(CliError::Options { problem, fix: "create one with `bitgrain bin`" });
    }
    let base = args.base.as_ref().map(Model::load).transpose()?;
    let all = args.source.read(base.as_ref())?;
    all.print_reason();
    let (learned, valid) = split_validation(args, all, params.seed)?;
    let data = TrainingData { learned: &learned, valid: valid.as_ref(), base: base.as_ref() };
    let trained = train(&args.source, &args.settings, &data, args.report.is_some())?;
    save(&trained.training.model, &args.model)?;
    if let Some(path) = &args.report {
        report::write(path, &args.source.data, &data, &trained)?;
    }
    let file_bytes = fs::metadata(&args.model).map_or(0, |file| file.len());
    let valid_rows = valid.as_ref().map_or(0, |valid| valid.table.matrix().n_rows());
    let outcome = Outcome { learned: learned.learned(), valid_rows, trained: &trained, path: &args.model, file_bytes };
    let mut text = Vec::new();
    outcome.write_text(&mut text)?;
    if let Some(path) = &args.report {
        writeln!(text, "wrote {}", printable(&path.display().to_string()))?;
    }
    Ok(Report { json: outcome.to_json(), text })
}

/// Trains on a table that `bitgrain bin` wrote.
fn trained_on_bins(args: &Args) -> Result<Report, CliError> {
    let refused = [
        (args.valid_fraction.is_some(), "--valid-fraction", "bin the validation rows apart and use --valid"),
        (args.base.is_some(), "--continue", "train on the original table"),
        (args.report.is_some(), "--report", "train on the original table"),
    ];
    if let Some((_, option, fix)) = refused.into_iter().find(|(given, ..)| *given) {
        return Err(CliError::Options { problem: format!("{option} needs the values of a table, not its bins"), fix });
    }
    if let Some(option) = args.source.columns.fixed_by_bins() {
        let problem = format!("{option} has no effect on a binned table");
        return Err(CliError::Options { problem, fix: "pass it to `bitgrain bin`" });
    }
    let start = Instant::now();
    let table = BinnedTable::open(&args.source.data)?;
    let mut data = match args.memory {
        Some(limit) => table.dataset_mapped(Some(usize::try_from(limit).unwrap_or(usize::MAX)))?,
        None => table.dataset()?,
    };
    let reading = start.elapsed();
    let start = Instant::now();
    let mut roles = args.source.columns.roles();
    roles.target.get_or_insert_with(|| table.metadata().target.clone());
    let valid = args.valid.as_ref().map(|path| -> Result<_, CliError> {
        let valid = table.training_like(args.source.table(path)?, &roles).map_err(with_options)?;
        Ok(valid.dataset_like(&data, None)?)
    });
    let valid = valid.transpose()?;
    let run = Run { objective: table.objective()?, held: valid.as_ref(), base: None, watch_train: false };
    let trained = grow(&args.source, &args.settings, &mut data, run, start.elapsed())?;
    save(&trained.training.model, &args.model)?;
    let metadata = table.metadata();
    let learned = Learned {
        rows: table.n_rows(),
        schema: table.schema(),
        bytes: None,
        objective: &metadata.objective,
        reason: Some(metadata.reason.as_str()).filter(|reason| !reason.is_empty()),
        classes: &metadata.classes,
        reading,
    };
    let file_bytes = fs::metadata(&args.model).map_or(0, |file| file.len());
    let valid_rows = valid.as_ref().map_or(0, Dataset::n_rows);
    let outcome = Outcome { learned, valid_rows, trained: &trained, path: &args.model, file_bytes };
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
    let fold = match all.table.groups() {
        Some(groups) => Fold::hold_out_groups(groups, fraction, seed),
        None => Fold::hold_out(all.table.matrix().n_rows(), all.table.strata(), fraction, seed),
    };
    Ok((all.select(&fold.train), Some(all.select(&fold.valid))))
}

/// Saves a model in the format that the file extension selects.
fn save(model: &Model, path: &Path) -> Result<(), CliError> {
    Ok(model.save_as(path, ModelFormat::of_path(path))?)
}

fn ensure_output_is_not_input(args: &Args) -> Result<(), CliError> {
    let inputs = || [Some(&args.source.data), args.valid.as_ref()].into_iter().flatten();
    super::predict::ensure_not_input(&args.model, inputs())?;
    match &args.report {
        Some(report) => super::predict::ensure_not_input(report, inputs().chain([&args.model]).chain(&args.base)),
        None => Ok(()),
    }
}
