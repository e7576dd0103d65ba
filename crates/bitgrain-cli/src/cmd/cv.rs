//! `bitgrain cv`: cross-validation.

use std::cell::RefCell;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bitgrain::gbdt::Trainer;
use bitgrain::gbdt::train::{CrossValidation, MetricSpread, Training};
use serde::Serialize;

use crate::boost::data::Source;
use crate::boost::outcome::seconds;
use crate::boost::settings::{Settings, spellings};
use crate::boost::training::show;
use crate::error::CliError;
use crate::number::digits;
use crate::progress::RoundBar;
use crate::table::Table;
use crate::threads::on_threads;

/// Cross-validate: train on all folds but one, evaluate on that fold, and repeat for every fold.
///
/// For classification, the folds are stratified: every fold has the same share of each class.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  bitgrain cv houses.csv --target price
  bitgrain cv clicks.parquet --target clicked --folds 10 --metric auc,logloss
  bitgrain cv a.csv --target y --n-estimators 1000 --early-stopping-rounds 20 --json")]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    /// Number of folds.
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,
    #[command(flatten)]
    settings: Settings,
    /// Number of threads [default: all cores]; the result does not depend on it.
    #[arg(long, value_name = "N", aliases = spellings("n_jobs", "threads"))]
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
    /// Number of rounds of each fold's model; the best round if early stopping is on.
    rounds: Vec<usize>,
    metrics: Vec<Spread>,
    seconds: f64,
}

/// Values of a metric over all folds.
#[derive(Debug, Serialize)]
struct Spread {
    name: String,
    folds: Vec<f64>,
    mean: f64,
    /// Sample standard deviation over the folds.
    sd: f64,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let mut given = args.clone();
    let threads = given.source.complete(given.settings.read_file()?)?;
    let report = on_threads(args.threads.or(threads), || measured(&given))??;
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?);
    }
    let names = report.metrics.iter().map(|metric| metric.name.as_str());
    let mut table = Table::new(&["fold", "rounds"].into_iter().chain(names).collect::<Vec<_>>(), 1);
    for (fold, rounds) in report.rounds.iter().enumerate() {
        let values = report.metrics.iter().map(|metric| metric.folds.get(fold).map_or("-".to_owned(), |v| digits(*v)));
        table.cells([(fold + 1).to_string(), rounds.to_string()].into_iter().chain(values).collect());
    }
    writeln!(out, "{table}\n")?;
    for Spread { name, mean, sd, .. } in &report.metrics {
        writeln!(out, "{name} {} ± {}", digits(*mean), digits(*sd))?;
    }
    Ok(writeln!(out, "{} rows of {} features, {}", report.rows, report.features, seconds(report.seconds))?)
}

fn measured(args: &Args) -> Result<Report, CliError> {
    // Check the options before reading the table, which may take long.
    args.settings.params(None)?;
    let all = args.source.read(None)?;
    let params = args.settings.params(Some(all.table.objective_name()))?;
    all.print_reason();
    let start = Instant::now();
    let data = all.table.dataset(&args.settings.quantizer()?, None)?;
    let bar = Arc::new(RoundBar::new("fold"));
    // Create all trainers first, so that an invalid objective or metric fails before any training.
    let trainers: Result<Vec<Trainer<'static>>, CliError> = (0..args.folds.min(data.n_rows()))
        .map(|fold| {
            let objective = all.table.objective()?;
            let metrics = args.source.metrics(&*objective)?;
            let trainer = metrics.into_iter().fold(Trainer::new(params.clone(), objective), Trainer::metric);
            let (bar, name) = (Arc::clone(&bar), format!("fold {} of {}", fold + 1, args.folds));
            Ok(trainer.on_round(move |round| show(bar.named(&name), round)))
        })
        .collect();
    let trainers = RefCell::new(trainers?.into_iter());
    let next = |_| trainers.borrow_mut().next().expect("one trainer per fold");
    let dealt = CrossValidation { folds: args.folds, stratified: all.table.strata().is_some(), seed: params.seed };
    let done = dealt.run(&data, next)?;
    let rounds = |training: &Training| training.model.trees.len() / training.model.output.base_scores.len().max(1);
    let spread = |m: MetricSpread| Spread { name: m.name, folds: m.values, mean: m.mean, sd: m.deviation };
    Ok(Report {
        rows: all.table.matrix().n_rows(),
        features: all.table.matrix().schema().n_features(),
        rounds: done.trainings.iter().map(rounds).collect(),
        metrics: done.metrics.into_iter().map(spread).collect(),
        objective: all.table.objective_name().to_owned(),
        seconds: start.elapsed().as_secs_f64(),
    })
}
