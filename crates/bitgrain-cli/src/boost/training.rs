//! Training with a progress bar.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bitgrain::gbdt::train::{Dataset, MetricValue, Round, Training};
use bitgrain::gbdt::{Model, Objective, Trainer};

use super::data::{Source, TableFile};
use super::settings::Settings;
use crate::error::CliError;
use crate::interrupt;
use crate::number::digits;
use crate::progress::RoundBar;

/// Result of a training run.
pub(crate) struct TrainingRun {
    pub(crate) training: Training,
    pub(crate) bins: u32,
    pub(crate) bytes_per_row: usize,
    pub(crate) binning: Duration,
    pub(crate) growing: Duration,
    /// Index of the model's last round: the best round if early stopping is on.
    last: usize,
}

/// Tables of a training, and the model that it continues from.
pub(crate) struct TrainingData<'a> {
    pub(crate) learned: &'a TableFile,
    pub(crate) valid: Option<&'a TableFile>,
    pub(crate) base: Option<&'a Model>,
}

/// Bins the rows and trains the trees. With `watch_train`, metrics are evaluated on the training rows as well.
pub(crate) fn train(
    source: &Source,
    settings: &Settings,
    &TrainingData { learned, valid, base }: &TrainingData<'_>,
    watch_train: bool,
) -> Result<TrainingRun, CliError> {
    let start = Instant::now();
    let mut data = learned.table.dataset(&settings.quantizer()?, base)?;
    let held = valid.map(|valid| valid.table.dataset_like(&data, base)).transpose()?;
    let run = Run { objective: learned.table.objective()?, held: held.as_ref(), base, watch_train };
    grow(source, settings, &mut data, run, start.elapsed())
}

/// Data and model of a training other than the training rows.
pub(crate) struct Run<'a> {
    pub(crate) objective: Box<dyn Objective>,
    pub(crate) held: Option<&'a Dataset>,
    pub(crate) base: Option<&'a Model>,
    pub(crate) watch_train: bool,
}

/// Trains the trees on binned rows; `binning` is the time that binning took.
pub(crate) fn grow(
    source: &Source,
    settings: &Settings,
    data: &mut Dataset,
    Run { objective, held, base, watch_train }: Run<'_>,
    binning: Duration,
) -> Result<TrainingRun, CliError> {
    let start = Instant::now();
    let metrics = source.metrics(&*objective)?;
    let bar = RoundBar::new("training");
    interrupt::install();
    let params = settings.params(Some(&objective.name()))?;
    let rounds_wanted = params.n_estimators;
    let stops_early = params.early_stopping_rounds.is_some();
    let mut trainer = Trainer::new(params, objective);
    for metric in metrics {
        trainer = trainer.metric(metric);
    }
    if let Some(held) = held {
        trainer = trainer.valid(held);
    }
    if let Some(model) = base {
        trainer = trainer.continue_from(model);
    }
    // Without validation data, metrics are evaluated on the training rows anyway.
    if watch_train && held.is_some() {
        trainer = trainer.watch_train();
    }
    let training = trainer.on_round(|round| show(&bar, round)).train(data)?;
    bar.finish();
    if interrupt::is_requested() {
        let rounds = training.history.len();
        eprintln!("stopped by Ctrl-C after {rounds} of {rounds_wanted} rounds; the model trained so far is kept");
    }
    let stopped = training.best_round.filter(|_| stops_early);
    let last = stopped.unwrap_or(training.history.len().saturating_sub(1));
    Ok(TrainingRun {
        last,
        training,
        bins: data.cuts().map().total_bins(),
        bytes_per_row: data.bytes_per_row(),
        binning,
        growing: start.elapsed(),
    })
}

pub(crate) fn show(bar: &RoundBar, round: &Round<'_>) -> ControlFlow<()> {
    bar.at(round.index + 1, round.total, &written(round.metrics));
    if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Formats metrics as `valid auc 0.816  train auc 0.83`.
fn written(metrics: &[MetricValue]) -> String {
    let metric = |metric: &MetricValue| format!("{} {} {}", metric.data, metric.name, digits(metric.value));
    metrics.iter().map(metric).collect::<Vec<_>>().join("  ")
}

impl TrainingRun {
    /// Returns the metrics of the model's last round.
    pub(crate) fn metrics(&self) -> &[MetricValue] {
        self.training.history.get(self.last).map_or(&[], Vec::as_slice)
    }
}
