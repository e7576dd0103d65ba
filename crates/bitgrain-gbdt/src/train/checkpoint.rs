//! `Checkpoint`: state of a training after a round, which a later process resumes.
//!
//! A checkpoint is a model file whose metadata hold the metrics of all rounds and the parameters.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::trainer::{EvalSet, MetricValue};
use super::{Boosting, Params, TrainError};
use crate::model::{Model, SaveError};
use crate::objective::Objective;
use crate::parameter::{PARAMETERS, ParameterStage};

const HISTORY: &str = "checkpoint.history";
const PARAMETER: &str = "checkpoint.parameter.";

/// Parameters that may differ when a training is resumed: they decide when it ends, not what a round does.
const FREE: [&str; 3] = ["n_estimators", "early_stopping_rounds", "early_stopping_min_delta"];

/// Model of the rounds so far with the metrics of every round.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Trees so far, including those of a model that the training continued from.
    pub(super) model: Model,
    /// Metrics of each completed round.
    pub(super) history: Vec<Vec<MetricValue>>,
    params: BTreeMap<String, String>,
}

impl Checkpoint {
    pub(super) fn new(model: Model, history: &[Vec<MetricValue>], params: &Params) -> Self {
        Self { model, history: history.to_vec(), params: listed(params) }
    }

    /// Model of the rounds so far, from which datasets must [start](super::Dataset::start_from).
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Number of completed rounds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.history.len()
    }

    /// Returns the checkpoint as a model with metadata, which any reader of models accepts.
    #[must_use]
    pub fn to_model(&self) -> Model {
        let mut model = self.model.clone();
        let named = self.params.iter().map(|(name, value)| (format!("{PARAMETER}{name}"), value.clone()));
        model.metadata.extend(named);
        model.metadata.insert(HISTORY.to_owned(), written(&self.history));
        model
    }

    /// Reads a checkpoint from a model with metadata.
    ///
    /// # Errors
    /// Returns [`TrainError::Checkpoint`] if the model is not a checkpoint.
    pub fn from_model(mut model: Model) -> Result<Self, TrainError> {
        let refused = || TrainError::Checkpoint { reason: "the model file is not a checkpoint".into() };
        let history = model.metadata.remove(HISTORY).and_then(|text| read(&text)).ok_or_else(refused)?;
        let (own, metadata) = model.metadata.into_iter().partition(|(key, _)| key.starts_with(PARAMETER));
        model.metadata = metadata;
        let own: BTreeMap<String, String> = own;
        let params = own.into_iter().map(|(key, value)| (key[PARAMETER.len()..].to_owned(), value)).collect();
        if history.len() > model.n_rounds() {
            return Err(refused());
        }
        Ok(Self { model, history, params })
    }

    /// Writes the checkpoint to a file atomically: a process that is killed meanwhile leaves the previous checkpoint.
    ///
    /// # Errors
    /// Returns the error of the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        self.to_model().save(path)
    }

    /// Checks that a training has the parameters and the objective of the checkpoint.
    pub(super) fn check(&self, params: &Params, objective: &dyn Objective) -> Result<(), TrainError> {
        let refused = |reason: String| Err(TrainError::Checkpoint { reason });
        let (own, its) = (objective.name(), &self.model.output.objective);
        if own != *its {
            return refused(format!("its objective is `{its}`, but that of the training is `{own}`"));
        }
        if let Some(what) = objective.unsaved_state() {
            return refused(format!("`{own}` learns {what}, which a checkpoint does not contain"));
        }
        if params.boosting == Boosting::Dart {
            return refused("a checkpoint does not contain the dropped trees of dart; use boosting gbdt".into());
        }
        for (name, value) in listed(params) {
            let its = self.params.get(&name).map_or("missing", String::as_str);
            if its != value {
                return refused(format!("its {name} is {its}, but that of the training is {value}"));
            }
        }
        Ok(())
    }
}

/// Returns the parameters that must agree, as text.
fn listed(params: &Params) -> BTreeMap<String, String> {
    let own = PARAMETERS.iter().filter(|parameter| parameter.stage == ParameterStage::Training);
    let own = own.map(|parameter| parameter.name).filter(|name| !FREE.contains(name));
    own.filter_map(|name| Some((name.to_owned(), params.get(name)?.to_string()))).collect()
}

/// Writes a line per round, with a set, the bits of a value and a name per metric; names follow last and may hold
/// anything except tabs and line breaks.
fn written(history: &[Vec<MetricValue>]) -> String {
    let mut text = String::new();
    for round in history {
        for MetricValue { data, name, value } in round {
            let set = match data {
                EvalSet::Train => "t".to_owned(),
                EvalSet::Valid => "0".to_owned(),
                EvalSet::Further(number) => number.to_string(),
            };
            let name = name.replace(['\t', '\n', '\r'], " ");
            let _ = write!(text, "{set} {:016x} {name}\t", value.to_bits());
        }
        text.push('\n');
    }
    text
}

fn read(text: &str) -> Option<Vec<Vec<MetricValue>>> {
    let metric = |text: &str| {
        let mut parts = text.splitn(3, ' ');
        let data = match parts.next()? {
            "t" => EvalSet::Train,
            "0" => EvalSet::Valid,
            number => EvalSet::Further(number.parse().ok()?),
        };
        let value = f64::from_bits(u64::from_str_radix(parts.next()?, 16).ok()?);
        Some(MetricValue { data, name: parts.next()?.to_owned(), value })
    };
    let round = |line: &str| line.split_terminator('\t').map(metric).collect();
    text.lines().map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_round_trip_bit_by_bit() {
        let metric = |data, name: &str, value| MetricValue { data, name: name.into(), value };
        let history = vec![
            vec![metric(EvalSet::Train, "rmse", 0.1), metric(EvalSet::Valid, "my metric", -0.0)],
            vec![metric(EvalSet::Further(2), "pinball:0.9", f64::INFINITY)],
            Vec::new(),
        ];
        assert_eq!(read(&written(&history)), Some(history));
        for broken in ["x 0 rmse\t\n", "t zz rmse\t\n", "t\t\n"] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }
}
