//! Metric and validation set of early stopping, and the best round.

use super::trainer::{EvalSet, MetricValue, Trainer};
use super::{Params, TrainError};

/// Metric and validation set that early stopping and the best round use, as 0-based indices in the order in which they
/// were added to the trainer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StopOn {
    /// Index of the validation set.
    pub valid: usize,
    /// Index of the metric.
    pub metric: usize,
}

impl StopOn {
    /// Checks that both exist.
    pub(super) fn check(self, metrics: usize, sets: usize) -> Result<(), TrainError> {
        for (what, index, count) in [("metric", self.metric, metrics), ("validation set", self.valid, sets)] {
            if index >= count {
                return Err(TrainError::StopOn { what, index, count });
            }
        }
        Ok(())
    }

    fn set(self) -> EvalSet {
        if self.valid == 0 { EvalSet::Valid } else { EvalSet::Further(self.valid) }
    }
}

/// The best round so far.
#[derive(Debug, Default)]
pub(super) struct Best {
    found: Option<(usize, f64)>,
    /// Number of rounds seen.
    rounds: usize,
}

impl Best {
    /// Compares a round with the best one.
    pub(super) fn see(&mut self, round: usize, metrics: &[MetricValue], trainer: &Trainer<'_>) {
        self.rounds = round + 1;
        let StopOn { metric, .. } = trainer.stop_on;
        let set = trainer.stop_on.set();
        let Some(value) = metrics.iter().filter(|of| of.data == set).nth(metric).map(|of| of.value) else { return };
        let least = trainer.params.early_stopping_min_delta;
        let higher = trainer.metrics[metric].higher_is_better();
        let better = |best: f64| if higher { value > best + least } else { value < best - least };
        // A NaN of the first round is replaced by any later value; a later NaN never compares as better.
        if self.found.is_none_or(|(_, best)| best.is_nan() || better(best)) {
            self.found = Some((round, value));
        }
    }

    /// Returns whether early stopping ends the training before the next round.
    pub(super) fn is_late(&self, params: &Params) -> bool {
        let late = |patience: usize| self.found.is_some_and(|(best, _)| self.rounds - 1 - best >= patience);
        params.early_stopping_rounds.is_some_and(late)
    }

    pub(super) fn round(&self) -> Option<usize> {
        self.found.map(|(round, _)| round)
    }
}
