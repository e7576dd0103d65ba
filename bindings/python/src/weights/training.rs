//! Training of a network: conversion of settings, targets and epochs.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use bitgrain::nn::network::train::{self, Epoch, History, LossFunction, Optimizer, Schedule, TrainConfig, TrainingSet};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::network::{Mask, WeightNetwork, batch};
use super::record::record;
use super::{Floats, elements};
use crate::error::{Raised, Result};

/// Interval at which signals are checked, unless a batch takes longer.
const PATIENCE: Duration = Duration::from_millis(50);

/// Training settings.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    epochs: usize,
    batch: usize,
    loss: String,
    optimizer: String,
    rate: f32,
    momentum: f32,
    decay: f32,
    schedule: String,
    patience: Option<usize>,
    clip: Option<f32>,
    seed: u64,
}

/// Targets of samples.
#[derive(FromPyObject)]
pub(crate) enum Targets<'py> {
    /// Class index of each sample.
    Classes(PyReadonlyArray1<'py, i64>),
    /// Regression targets.
    Values(PyReadonlyArray1<'py, f32>),
}

impl Settings {
    fn config(&self) -> Result<TrainConfig> {
        let loss = parse_loss(&self.loss)?;
        let mut config = match self.optimizer.as_str() {
            "adamw" => TrainConfig::adam(self.rate, loss),
            "sgd" => TrainConfig::sgd(self.rate, self.momentum, loss),
            other => return Err(Raised::input(format!("optimizer cannot be \"{other}\"; choose adamw or sgd"))),
        };
        if let Optimizer::AdamW { decay, .. } = &mut config.optimizer {
            *decay = self.decay;
        }
        config.schedule = match self.schedule.as_str() {
            "constant" => Schedule::Constant,
            "cosine" => Schedule::Cosine,
            other => return Err(Raised::input(format!("schedule cannot be \"{other}\"; choose constant or cosine"))),
        };
        let Self { epochs, batch, patience, clip, seed, .. } = *self;
        Ok(TrainConfig { epochs, batch, patience, clip, seed, ..config })
    }
}

pub(super) fn parse_loss(name: &str) -> Result<LossFunction> {
    match name {
        "cross_entropy" => Ok(LossFunction::CrossEntropy),
        "mean_square" => Ok(LossFunction::MeanSquare),
        other => Err(Raised::input(format!("loss cannot be \"{other}\"; choose cross_entropy or mean_square"))),
    }
}

/// Creates a dataset of samples and targets.
pub(super) fn dataset(x: &Floats<'_>, targets: &Targets<'_>, mask: &Mask<'_>) -> Result<TrainingSet> {
    let targets = match targets {
        Targets::Classes(classes) => {
            let class = |(index, class): (usize, &i64)| {
                usize::try_from(*class)
                    .map_err(|_| Raised::input(format!("y[{index}] is {class}; class indices start at 0")))
            };
            let classes = elements(classes)?.iter().enumerate().map(class).collect::<Result<Vec<_>>>()?;
            train::TrainingTargets::Classes(classes)
        }
        Targets::Values(values) => train::TrainingTargets::Values(elements(values)?.to_vec()),
    };
    Ok(TrainingSet::new(batch(x, mask)?, targets)?)
}

/// Trains a network and calls `notify` after each epoch, which stops the training by returning true or raising.
pub(super) fn train<'py>(
    network: &WeightNetwork,
    py: Python<'py>,
    data: &TrainingSet,
    held_back: Option<&TrainingSet>,
    settings: &Settings,
    notify: Option<&Py<PyAny>>,
) -> Result<Bound<'py, PyDict>> {
    let config = settings.config()?;
    let mut interrupted = false;
    let history = network.change(py, |network| {
        let wrong = RefCell::new(None);
        let ended = |outcome: PyResult<bool>| match outcome {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(error) => {
                *wrong.borrow_mut() = Some(error);
                ControlFlow::Break(())
            }
        };
        let mut watch = |epoch: &Epoch| ended(Python::attach(|py| told(py, epoch, notify)));
        let mut looked = Instant::now();
        // Signals are checked between batches, because an epoch may take hours.
        let mut between = || {
            if looked.elapsed() < PATIENCE {
                return ControlFlow::Continue(());
            }
            looked = Instant::now();
            ended(Python::attach(|py| py.check_signals()).map(|()| false))
        };
        let history = train::train_with(network, data, held_back, &config, &mut watch, &mut between)?;
        match wrong.into_inner() {
            // The weights trained so far are kept.
            Some(error) if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) => interrupted = true,
            Some(error) => return Err(error.into()),
            None => {}
        }
        Ok(history)
    })?;
    Ok(as_dict(py, &history, interrupted)?)
}

fn told(py: Python<'_>, epoch: &Epoch, notify: Option<&Py<PyAny>>) -> PyResult<bool> {
    py.check_signals()?;
    match notify {
        Some(notify) => notify.call1(py, (epoch_dict(py, epoch)?,))?.bind(py).is_truthy(),
        None => Ok(false),
    }
}

fn as_dict<'py>(py: Python<'py>, history: &History, interrupted: bool) -> PyResult<Bound<'py, PyDict>> {
    let epochs = history.epochs.iter().map(|epoch| epoch_dict(py, epoch)).collect::<PyResult<Vec<_>>>()?;
    Ok(record!(py, {
        epochs: PyList::new(py, epochs)?,
        chosen: history.chosen,
        stopped_early: history.stopped_early,
        interrupted: interrupted,
    }))
}

fn epoch_dict<'py>(py: Python<'py>, epoch: &Epoch) -> PyResult<Bound<'py, PyDict>> {
    Ok(record!(py, {
        number: epoch.number,
        loss: epoch.loss,
        held_back_loss: epoch.held_back.map(|score| score.loss),
        held_back_accuracy: epoch.held_back.and_then(|score| score.accuracy),
        rate: epoch.rate,
    }))
}
