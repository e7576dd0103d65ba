//! Training and cross-validation.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bitgrain::gbdt::metric::{Metric, default_for};
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::train::{
    Checkpoint, CrossValidation, EvalSet, MetricValue, Params, Round, StopOn, TrainError, Trainer,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::binned::{BinnedData, Lent};
use super::booster::Booster;
use super::group::PythonGroup;
use super::metric::metric;
use super::objective::{FirstRaised, objective};
use super::pool::{self, Jobs, Signal};
use super::settings::Settings;
use crate::error::{Raised, Result};

/// Dataset name, metric name and values per round.
type History = Vec<(String, String, Vec<f64>)>;

/// Result of a training run: model, history, best round, gradient precision, whether it was interrupted.
type Trained = (Booster, History, Option<usize>, String, bool);

/// Values of each metric per fold, and the number of rounds of each fold.
type Folds = (Vec<(String, Vec<f64>)>, Vec<usize>);

/// Trains a model. Validation data is named, and early stopping uses the first dataset; `watch_train` is the name of
/// the training data if it is to be evaluated. With `keep`, the data can be used again: training works on the bins in
/// place, or on a copy of them if Python code runs during the training, which may use the data.
///
/// `stop_on` is the index of the validation dataset and that of the metric that early stopping uses. `on_round` is called
/// with the index of a round, the number of rounds and the metrics. It returns whether to stop, a dictionary with all
/// parameters of the next rounds, or a string to be called again as `on_round.model(booster)` with the model so far.
#[pyfunction]
#[pyo3(signature = (
    data, settings, objective, metrics, *, valid=None, watch_train=None, stop_on=(0, 0), on_round=None,
    checkpoint=None, metadata=None, keep=true, n_jobs=None, group=None,
))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn train(
    py: Python<'_>,
    data: &Bound<'_, BinnedData>,
    settings: Settings,
    objective: &Bound<'_, PyAny>,
    metrics: Option<Vec<Bound<'_, PyAny>>>,
    valid: Option<Vec<(String, Bound<'_, BinnedData>)>>,
    watch_train: Option<String>,
    stop_on: (usize, usize),
    on_round: Option<Py<PyAny>>,
    checkpoint: Option<&Bound<'_, Booster>>,
    metadata: Option<BTreeMap<String, String>>,
    keep: bool,
    n_jobs: Option<Jobs>,
    group: Option<&Bound<'_, PyAny>>,
) -> Result<Trained> {
    let raised = FirstRaised::default();
    let group = group.map(|group| PythonGroup::new(group, raised.clone())).transpose()?;
    let params = settings.params()?;
    let are_names = |metrics: &Vec<Bound<'_, PyAny>>| metrics.iter().all(|metric| metric.is_instance_of::<PyString>());
    let runs_alone = group.is_none()
        && on_round.is_none()
        && objective.is_instance_of::<PyString>()
        && metrics.as_ref().is_none_or(are_names);
    let objective = self::objective(objective, &raised)?;
    let (valid, watches) = (valid.unwrap_or_default(), watch_train.is_some());
    let metrics: Vec<Box<dyn Metric>> = match metrics {
        Some(metrics) => metrics.iter().map(|given| metric(given, &*objective, &raised)).collect::<Result<_>>()?,
        None if !valid.is_empty() || watches => vec![default_for(&*objective)],
        None => Vec::new(),
    };
    let base = data.get().base().cloned();
    let checkpoint = checkpoint.map(|checkpoint| Checkpoint::from_model(Model::clone(&checkpoint.get().model)));
    let checkpoint = checkpoint.transpose()?;
    let changes = Mutex::new(None);
    let shared = |(_, valid): &(String, Bound<'_, BinnedData>)| valid.get().shared(py);
    let shared = valid.iter().map(shared).collect::<Result<Vec<_>>>()?;
    let called = Names { train: watch_train, valid: valid.into_iter().map(|(name, _)| name).collect() };
    let lent = if keep && runs_alone { data.get().lend(py)? } else { None };
    let own = match &lent {
        Some(_) => None,
        None if keep => Some(data.get().shared(py)?),
        None => Some(data.get().take(py)?),
    };
    let stop = AtomicBool::new(false);
    let (training, signal) = pool::interruptible(py, n_jobs, &stop, || {
        let mut lent = lent;
        // The bins are moved if no other owner exists, and copied otherwise, since training reorders the rows.
        let mut own = own.map(|own| Arc::try_unwrap(own).unwrap_or_else(|shared| (*shared).clone()));
        let Some(own) = lent.as_mut().and_then(Lent::data).or(own.as_mut()) else {
            unreachable!("the data is lent or owned")
        };
        let mut trainer = Trainer::new(params, objective);
        for metric in metrics {
            trainer = trainer.metric(metric);
        }
        for valid in &shared {
            trainer = trainer.valid(valid);
        }
        if watches {
            trainer = trainer.watch_train();
        }
        if let Some(checkpoint) = &checkpoint {
            trainer = trainer.resume(checkpoint);
        } else if let Some(base) = &base {
            trainer = trainer.continue_from(base);
        }
        let taken = || changes.lock().unwrap_or_else(PoisonError::into_inner).take();
        trainer = trainer.before_round(|_, params| taken().into_iter().for_each(|changed| *params = changed));
        let (valid, metric) = stop_on;
        let trainer = trainer.stop_on(StopOn { valid, metric });
        let trainer = match &group {
            Some(group) => trainer.distributed(group),
            None => trainer,
        };
        trainer.on_round(|round| tell(on_round.as_ref(), &called, round, &stop, &raised, &changes)).train(own)
    })?;
    let training = finished(training, &raised)?;
    let interrupted = interrupted(py, signal)?;
    let history = by_metric(&called, &training.history);
    let mut model = training.model;
    model.metadata.extend(metadata.unwrap_or_default());
    let precision = training.precision.to_string();
    Ok((Booster::new(model)?, history, training.best_round, precision, interrupted))
}

/// Trains one model per fold and evaluates it on the held-out rows. Returns each metric after the last round, or after
/// the best round if training stopped early, and the number of rounds of each fold.
#[pyfunction]
#[pyo3(signature = (data, settings, objective, metrics, *, folds, stratified, seed, n_jobs=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn cross_validate(
    py: Python<'_>,
    data: &Bound<'_, BinnedData>,
    settings: Settings,
    objective: &Bound<'_, PyAny>,
    metrics: Option<Vec<Bound<'_, PyAny>>>,
    folds: usize,
    stratified: bool,
    seed: u64,
    n_jobs: Option<Jobs>,
) -> Result<Folds> {
    let raised = FirstRaised::default();
    let params = settings.params()?;
    if data.get().base().is_some() {
        return Err(Raised::input("cross-validation cannot continue from a model; omit init_model"));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let trainer = |_| -> Result<Trainer<'static>> {
        let objective = self::objective(objective, &raised)?;
        let metrics: Vec<Box<dyn Metric>> = match &metrics {
            Some(metrics) => metrics.iter().map(|given| metric(given, &*objective, &raised)).collect::<Result<_>>()?,
            None => vec![default_for(&*objective)],
        };
        let trainer = metrics.into_iter().fold(Trainer::new(params.clone(), objective), Trainer::metric);
        let (stop, raised) = (Arc::clone(&stop), raised.clone());
        Ok(trainer.on_round(move |round| tell(None, &Names::default(), round, &stop, &raised, &Mutex::default())))
    };
    let own = data.get().shared(py)?;
    // Created here, where the GIL is held; more folds than rows are rejected below.
    let trainers = (0..folds.min(own.n_rows())).map(trainer).collect::<Result<Vec<_>>>()?;
    let trainers = Mutex::new(trainers);
    let next = || trainers.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let validation = CrossValidation { folds, stratified, seed };
    let (outcome, signal) = pool::interruptible(py, n_jobs, &stop, || {
        validation.run(&own, |_| next().unwrap_or_else(|| unreachable!("as many trainers as folds")))
    })?;
    let outcome = finished(outcome, &raised)?;
    if let Some(signal) = signal {
        return Err(signal.error.into());
    }
    let metrics = outcome.metrics.into_iter().map(|metric| (metric.name, metric.values)).collect();
    Ok((metrics, outcome.trainings.iter().map(|training| training.model.n_rounds()).collect()))
}

/// Names of the datasets.
#[derive(Debug, Default)]
struct Names {
    train: Option<String>,
    /// Names of the validation datasets.
    valid: Vec<String>,
}

impl Names {
    fn of(&self, data: EvalSet) -> String {
        let name = match data {
            EvalSet::Train => self.train.as_ref(),
            EvalSet::Valid => self.valid.first(),
            EvalSet::Further(number) => self.valid.get(number),
        };
        name.map_or_else(|| data.to_string(), Clone::clone)
    }
}

/// Calls the callback after a round and returns whether the callback or a signal requests a stop. Parameters for the
/// next rounds are stored in `changes`.
fn tell(
    on_round: Option<&Py<PyAny>>,
    called: &Names,
    round: &Round<'_>,
    stop: &AtomicBool,
    raised: &FirstRaised,
    changes: &Mutex<Option<Params>>,
) -> ControlFlow<()> {
    let told = on_round.map_or(Ok(false), |call| {
        Python::attach(|py| {
            let of = |metric: &MetricValue| (called.of(metric.data), metric.name.clone(), metric.value);
            let metrics: Vec<_> = round.metrics.iter().map(of).collect();
            let call = call.bind(py);
            let mut answer = call.call1((round.index, round.total, metrics))?;
            while answer.is_instance_of::<PyString>() {
                let checkpoint = answer.extract::<String>()? == "checkpoint";
                let model = if checkpoint { round.checkpoint().to_model() } else { round.model() };
                answer = call.call_method1("model", (Booster::new(model)?,))?;
            }
            if answer.is_instance_of::<PyDict>() {
                let params = answer.extract::<Settings>()?.params()?;
                *changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(params);
                return Ok(false);
            }
            answer.is_truthy()
        })
    });
    let wants_end = told.unwrap_or_else(|error| {
        raised.set(error);
        true
    });
    if wants_end || stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns the outcome, or the exception that a callable raised. An error that all workers have is the same on all.
fn finished<T>(outcome: std::result::Result<T, TrainError>, raised: &FirstRaised) -> Result<T> {
    match (raised.take(), outcome) {
        (_, Err(TrainError::Communication(error))) => Err(error.into()),
        (Some(error), _) => Err(error.into()),
        (None, outcome) => Ok(outcome?),
    }
}

/// Returns whether the signal is a single `KeyboardInterrupt`; other exceptions are raised.
fn interrupted(py: Python<'_>, signal: Option<Signal>) -> Result<bool> {
    match signal {
        None => Ok(false),
        Some(signal) if !signal.again && signal.error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
        Some(signal) => Err(signal.error.into()),
    }
}

/// Returns the values of each metric per round. Duplicate names get a number.
fn by_metric(called: &Names, rounds: &[Vec<MetricValue>]) -> History {
    let mut history: History = Vec::new();
    for (at, metric) in rounds.first().into_iter().flatten().enumerate() {
        let data = called.of(metric.data);
        let alike = rounds[0][..at].iter().filter(|other| other.data == metric.data && other.name == metric.name);
        let name = match alike.count() {
            0 => metric.name.clone(),
            before => format!("{}_{}", metric.name, before + 1),
        };
        let values = rounds.iter().filter_map(|round| round.get(at)).map(|metric| metric.value);
        history.push((data, name, values.collect()));
    }
    history
}
