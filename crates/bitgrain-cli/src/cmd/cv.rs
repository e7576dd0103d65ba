//! `bitgrain cv`: how well a training does on rows it did not see, each row once.

use std::io::Write;
use std::num::NonZeroUsize;

use bitgrain::gbdt::table::Fold;
use bitgrain::gbdt::train::{Data, MetricValue};
use bitgrain::nn::digits;
use serde::Serialize;

use crate::boost::data::Source;
use crate::boost::outcome::seconds;
use crate::boost::settings::Settings;
use crate::boost::training::{Trained, train};
use crate::error::CliError;
use crate::table::Table;
use crate::threads::on_threads;

/// Cross-validate: hold back each part of the rows in turn, train on the others, and measure.
///
/// Of classes, every part holds the same share.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain cv houses.csv --target price
  bitgrain cv clicks.parquet --target clicked --folds 10 --metric auc,logloss
  bitgrain cv a.csv --target y --rounds 1000 --early-stopping 20 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Parts.
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    #[command(flatten)]
    settings: Settings,
    /// Threads to use; all cores if not given. The result is the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    objective: String,
    rows: usize,
    features: usize,
    folds: Vec<Part>,
    metrics: Vec<Spread>,
}

/// What one part came to.
#[derive(Debug, Serialize)]
struct Part {
    rows: usize,
    rounds: usize,
    /// In the order of the metrics.
    values: Vec<f64>,
    seconds: f64,
}

/// A metric over all parts.
#[derive(Debug, Serialize)]
struct Spread {
    name: String,
    mean: f64,
    /// Standard deviation of the parts, as of a sample.
    sd: f64,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let report = on_threads(args.threads, || measured(args))??;
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?);
    }
    let header: Vec<String> = ["fold", "rows", "rounds"].map(str::to_owned).into_iter().chain(names(&report)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).chain(["time"]).collect();
    let mut table = Table::new(&header, 1);
    for (fold, part) in (1..).zip(&report.folds) {
        let begin = [format!("{fold}"), part.rows.to_string(), part.rounds.to_string()];
        let values = part.values.iter().map(|value| digits(*value));
        table.cells(begin.into_iter().chain(values).chain([seconds(part.seconds)]).collect());
    }
    writeln!(out, "{table}\n")?;
    for Spread { name, mean, sd } in &report.metrics {
        writeln!(out, "{name} {} ± {}", digits(*mean), digits(*sd))?;
    }
    Ok(())
}

fn names(report: &Report) -> Vec<String> {
    report.metrics.iter().map(|metric| metric.name.clone()).collect()
}

fn measured(args: &Args) -> Result<Report, CliError> {
    let all = args.source.read(None)?;
    let rows = all.matrix.n_rows();
    if args.folds < 2 || args.folds > rows {
        return Err(CliError::Folds { folds: args.folds, rows });
    }
    if let Some(reason) = &all.reason {
        eprintln!("objective {}: {reason}; --objective chooses another", all.objective);
    }
    let mut folds = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (at, fold) in (1..).zip(Fold::k_fold(rows, all.strata(), args.folds, args.settings.seed)) {
        let (learned, valid) = (all.select(&fold.train), all.select(&fold.valid));
        let label = format!("fold {at} of {}", args.folds);
        let trained = train(&args.source, &args.settings, &learned, Some(&valid), None, &label)?;
        let found: Vec<&MetricValue> = trained.metrics().iter().filter(|metric| metric.data == Data::Valid).collect();
        names = found.iter().map(|metric| metric.name.clone()).collect();
        let values = found.iter().map(|metric| metric.value).collect();
        folds.push(Part {
            rows: fold.valid.len(),
            rounds: rounds(&trained),
            values,
            seconds: trained.growing.as_secs_f64(),
        });
    }
    let spread = |(at, name): (usize, String)| {
        let values: Vec<f64> = folds.iter().filter_map(|part| part.values.get(at).copied()).collect();
        let (mean, sd) = mean_and_sd(&values);
        Spread { name, mean, sd }
    };
    let metrics = names.into_iter().enumerate().map(spread).collect();
    Ok(Report { objective: all.objective, rows, features: all.matrix.names().len(), folds, metrics })
}

/// Rounds up to the best one if training stopped early, else all.
fn rounds(trained: &Trained) -> usize {
    trained.training.model.trees.len() / trained.training.model.output.base_scores.len().max(1)
}

#[expect(clippy::cast_precision_loss, reason = "a handful of folds")]
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}
