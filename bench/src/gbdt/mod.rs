//! Suite `gbdt`: gradient boosting compared with LightGBM, XGBoost, CatBoost and scikit-learn, each run in a separate
//! process.

mod array;
mod bars;
mod capabilities;
mod contender;
mod contest;
mod engines;
mod job;
mod ledger;
mod ours;
mod package;
mod scaling;
mod sheet;
mod sparse;
mod table;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::machine::Machine;
use crate::measure::Pace;
use crate::report::Report;
use crate::rival::pypi;
use crate::scratch::Scratch;
use contender::Starter;
use contest::{Contest, Effort};
use job::{Job, Settings};
use ledger::Ledger;
use package::Package;
use table::{Source, Table};

pub(crate) use ours::run as contend;

/// Numbers of threads; a quick run uses only the first.
const THREADS: [usize; 2] = [1, 2];

/// Options of this suite.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Suite gbdt")]
#[group(id = "gbdt")]
pub(crate) struct Options {
    /// Measure only our own training on 1, 2 and 8 threads: synchronizations, serial time, two trainings at once
    #[arg(long)]
    scaling: bool,
    /// Measure only SHAP values, ranking and training under constraints
    #[arg(long, conflicts_with = "scaling")]
    capabilities: bool,
    /// Folder with real tables to measure as well.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Maximum number of runs per contender; slow contenders, and all on real tables, run once.
    #[arg(long, value_name = "N", default_value_t = 3)]
    repetitions: usize,
    /// Seconds per table and number of threads after which no further runs start; every contender runs at least once.
    #[arg(long, value_name = "SECONDS", default_value_t = 150)]
    budget: u64,
    /// Python interpreter with the competitors installed [default: a new virtual environment].
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// File that keeps finished runs; a later call on the same machine and commit only makes the others.
    #[arg(long, value_name = "FILE")]
    runs: Option<PathBuf>,
    /// Seconds after which no run starts; the same command continues with the runs of --runs.
    #[arg(long, value_name = "SECONDS", requires = "runs")]
    stop_after: Option<u64>,
}

/// Runs the suite.
///
/// # Errors
/// Returns an error if a table cannot be generated or read, or if runs are left after `--stop-after`. Competitors that
/// fail are reported and skipped.
pub(crate) fn run(pace: Pace, options: &Options) -> io::Result<Report> {
    if options.scaling {
        return scaling::run(pace);
    }
    let python = options.python.clone().map_or_else(|| pypi::GBDT.python(), Ok);
    if let Err(error) = &python {
        eprintln!("continuing without competitors: {error}");
    }
    let python = python.ok();
    let ledger = Ledger::open(options.runs.as_deref(), options.stop_after.map(Duration::from_secs))?;
    if options.capabilities {
        return capabilities::report(&Package::new(python), &ledger, options.data.as_deref(), pace);
    }
    let starter = Starter::new(python.clone())?;
    let package = Package::new(python);
    let threads = if pace == Pace::Quick { &THREADS[..1] } else { &THREADS };

    let (mut contests, mut sheets, mut engines) = (Vec::new(), Vec::new(), None);
    for source in Source::all(options.data.as_deref()) {
        let mut table = source.load(pace)?;
        let scratch = Scratch::new("gbdt")?;
        table.write(scratch.folder())?;
        // Only the child processes read the features; this process keeps what it needs to measure quality.
        table.train.features = Vec::new();
        table.held.features = Vec::new();
        // Starting Python takes longer than training on a small table, so tables without targets run once.
        let repetitions = if pace == Pace::Quick || !table.judged { 1 } else { options.repetitions };
        let effort = Effort { repetitions, budget: Duration::from_secs(options.budget) };
        for &threads in threads {
            let mut contest = start(&table, threads);
            let job = job(&table, &scratch, pace, threads);
            contest::run(&starter, &ledger, &job, &table.held.targets, effort, &mut contest);
            sheets.push(sheet::of(&contest, &table));
            contests.push(contest);
        }
        // On the first table: the costs of an engine depend little on the data.
        engines.get_or_insert_with(|| engines::run(&package, &ledger, &table, &scratch, settings(pace), pace));
    }
    let (measured, mut verdicts) = engines.unwrap_or_default();
    let (sparse, of_sparse) = sparse::run(&package, &ledger, options.budget, pace);
    let (capable, of_capable) = capabilities::run(&package, &ledger, options.data.as_deref(), pace);
    ledger.finished()?;
    sheets.extend(measured.into_iter().chain(sparse).chain(capable));
    verdicts.extend(of_sparse.into_iter().chain(of_capable));
    Ok(Report {
        suite: "gbdt",
        title: "Boosting benchmarks",
        intro: intro(pace),
        pace,
        options: options.data.iter().map(|_| "--data FOLDER").collect(),
        machine: Machine::read(),
        facts: vec![("Competitors", versions(&contests))],
        tables: Vec::new(),
        sheets,
        judged: bars::judge(&contests).into_iter().chain(verdicts).collect(),
    })
}

fn settings(pace: Pace) -> Settings {
    let rounds = if pace == Pace::Quick { 20 } else { 100 };
    Settings { rounds, leaves: 63, depth: 6, bins: 255, learning_rate: 0.1, min_child_samples: 20, seed: 0 }
}

/// Minimum duration of the prediction calls in seconds.
fn predict_seconds(pace: Pace) -> f64 {
    if pace == Pace::Quick { 0.1 } else { 0.5 }
}

fn start(table: &Table, threads: usize) -> Contest {
    let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    Contest {
        title: format!("{}, {}, {threads}", table.name, table.size()),
        objective: table.objective,
        judged: table.judged,
        predicts_many: table.predict_training_rows,
        entries: Vec::new(),
        failures: Vec::new(),
    }
}

fn job(table: &Table, scratch: &Scratch, pace: Pace, threads: usize) -> Job {
    Job {
        contender: String::new(),
        folder: scratch.folder().to_owned(),
        objective: table.objective,
        categorical: table.categorical.clone(),
        threads,
        settings: settings(pace),
        predict_training_rows: table.predict_training_rows,
        predict_seconds: predict_seconds(pace),
        scores: scratch.file("scores.npy"),
    }
}

/// Formats the versions of the libraries that ran: `LightGBM 4.7.0, …`.
fn versions(contests: &[Contest]) -> String {
    let mut found: Vec<String> = Vec::new();
    for entry in contests.iter().flat_map(|contest| &contest.entries) {
        let library = entry.contender.name.split(',').next().unwrap_or_default();
        let version = format!("{library} {}", entry.version);
        if entry.contender.side == contender::Side::Rival && !found.contains(&version) {
            found.push(version);
        }
    }
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}

fn intro(pace: Pace) -> String {
    let Settings { rounds, leaves, depth, bins, learning_rate, min_child_samples, .. } = settings(pace);
    format!(
        "Gradient boosting with `bitgrain::gbdt`, compared with other libraries as released on PyPI. Every run is a \
         separate process that reads the same row-major f32 arrays, and the libraries run alternately; figures are \
         medians over runs with different seeds. Files are in memory (`/dev/shm`, unless `TMPDIR` is set). A \
         competitor that trains more than 1.5 times as long as the fastest runs once.\n\n\
         Common settings: {rounds} rounds, {bins} bins, learning rate {learning_rate}, {leaves} leaves (depth \
         {depth} for CatBoost, for depth-wise XGBoost, and for our symmetric trees), no regularization of leaves, no \
         sampling of rows or features, prediction of raw scores, number of threads as in the heading. Leaves have at \
         least {min_child_samples} rows, except in XGBoost, which lacks this setting (its minimum sum of hessians is \
         0.001, as in ours and LightGBM), and in CatBoost's symmetric trees. LightGBM's quantized gradients have 4 \
         levels, with renewed leaves. CatBoost takes one Newton step per leaf, without random strength. Each library \
         finds cuts with its default method: ours, LightGBM and scikit-learn from at most 200,000 rows. scikit-learn \
         bins during training, so its training time includes binning. Categories are split by each library's own \
         rules.\n\n\
         *Bin* is the time from arrays to a dataset ready for training (`Dataset`, `QuantileDMatrix`, quantized \
         `Pool`). *Peak* is the maximum resident memory up to the end of training, minus the resident memory after \
         reading the input and importing the libraries. *Predict* is the mean over calls during {} s, after an \
         untimed call. *Equal quality* means at most 0.1 % worse than LightGBM; only competitors of equal quality \
         count as the fastest, and only our entries of equal quality are compared with them. For binning, memory and \
         prediction, the worst of our three leaf-wise entries counts. Targets apply to generated tables; the real \
         ones are too small for meaningful times.",
        predict_seconds(pace),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::tests::{contest, entry};
    use job::Objective;

    #[test]
    fn versions_name_each_library_once() {
        let figures = [1.0, 1.0, 1.0, 1.0, 1.0];
        let entries = ["f32", "lightgbm", "lightgbm-quantized", "catboost"].map(|key| entry(key, figures)).to_vec();
        let both = [contest(Objective::Binary, entries.clone()), contest(Objective::Binary, entries)];
        assert_eq!(versions(&both), "LightGBM 1.0, CatBoost 1.0");
        assert_eq!(versions(&[]), "none");
    }
}
