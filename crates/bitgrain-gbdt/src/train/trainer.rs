//! `Trainer`: builder of a training, and its result.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use super::grow::{Codes4, Codes8, Floats};
use super::rounds::Rounds;
use super::team::Team;
use super::usage::TeamUsage;
use super::{Dataset, Params, TrainError};
use crate::feature::FeatureError;
use crate::gradient::GradientPrecision;
use crate::metric::Metric;
use crate::model::{InputKind, Model};
use crate::objective::Objective;

/// Callback after every round, which can end the training.
type OnRound<'a> = Box<dyn FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a>;

/// Builder of a training: parameters, objective, validation data, metrics.
pub struct Trainer<'a> {
    pub(super) params: Params,
    pub(super) objective: Box<dyn Objective>,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    /// Validation sets; early stopping uses the first.
    pub(super) valid: Vec<&'a Dataset>,
    pub(super) init: Option<&'a Model>,
    pub(super) watch_train: bool,
    pub(super) on_round: Option<OnRound<'a>>,
}

impl fmt::Debug for Trainer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trainer").field("params", &self.params).field("objective", &self.objective.name()).finish()
    }
}

impl<'a> Trainer<'a> {
    /// Creates a trainer without validation data and metrics.
    #[must_use]
    pub fn new(params: Params, objective: Box<dyn Objective>) -> Self {
        Self {
            params,
            objective,
            metrics: Vec::new(),
            valid: Vec::new(),
            init: None,
            watch_train: false,
            on_round: None,
        }
    }

    /// Adds a metric that is evaluated after every round, on the validation data if there is any, else on the training
    /// data. Early stopping uses the first metric.
    #[must_use]
    pub fn metric(mut self, metric: Box<dyn Metric>) -> Self {
        self.metrics.push(metric);
        self
    }

    /// Adds a validation set, created with [`Dataset::like`]. Early stopping and the best round use the first set;
    /// others are only evaluated.
    #[must_use]
    pub fn valid(mut self, data: &'a Dataset) -> Self {
        self.valid.push(data);
        self
    }

    /// Evaluates metrics on the training data, too.
    #[must_use]
    pub fn watch_train(mut self) -> Self {
        self.watch_train = true;
        self
    }

    /// Adds trees to those of a model. Every dataset must [start from it](Dataset::start_from).
    #[must_use]
    pub fn continue_from(mut self, model: &'a Model) -> Self {
        self.init = Some(model);
        self
    }

    /// Sets a callback that is called after every round. `ControlFlow::Break` ends the training with the trees grown so
    /// far.
    #[must_use]
    pub fn on_round(mut self, call: impl FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a) -> Self {
        self.on_round = Some(Box::new(call));
        self
    }

    /// Trains a model. The rows of `data` are reordered during training and restored at the end.
    ///
    /// # Errors
    /// Returns a [`TrainError`] if parameters or data are invalid.
    pub fn train(mut self, data: &mut Dataset) -> Result<Training, TrainError> {
        self.params.check()?;
        self.check(data)?;
        let precision = self.params.gradient_precision.of(data.n_rows());
        let threads = if data.is_tiny() { 1 } else { rayon::current_num_threads() };
        // Within the pool, because the loops that stay with rayon (validation, metrics) would each be handed over to
        // it.
        rayon::scope(|_| {
            Team::with(threads, |team| match precision {
                GradientPrecision::Pair8 => Rounds::<Codes8>::new(team, &mut self, data).run(),
                GradientPrecision::Pair4 => Rounds::<Codes4>::new(team, &mut self, data).run(),
                GradientPrecision::F32 | GradientPrecision::Auto => Rounds::<Floats>::new(team, &mut self, data).run(),
            })
        })
    }

    /// Calls the callback of a round; returns whether to stop.
    pub(super) fn notify(&mut self, round: &Round<'_>) -> bool {
        self.on_round.as_mut().is_some_and(|call| call(round).is_break())
    }

    /// Returns the metadata of the model file.
    pub(super) fn metadata(&self, best_round: Option<usize>) -> BTreeMap<String, String> {
        let Params { n_estimators, learning_rate, num_leaves, growth, gradient_precision, seed, .. } = &self.params;
        let mut said = vec![
            ("rounds", n_estimators.to_string()),
            ("learning_rate", learning_rate.to_string()),
            ("num_leaves", num_leaves.to_string()),
            ("growth", format!("{growth:?}").to_lowercase()),
            ("precision", gradient_precision.to_string()),
            ("seed", seed.to_string()),
        ];
        said.extend(best_round.map(|round| ("best_round", round.to_string())));
        said.into_iter().map(|(key, value)| (format!("train.{key}"), value)).collect()
    }

    fn check(&self, data: &Dataset) -> Result<(), TrainError> {
        let all_data = || std::iter::once(data).chain(self.valid.iter().copied());
        if all_data().any(|data| data.n_rows() == 0) {
            return Err(FeatureError::Empty { rows: 0, features: data.n_features() }.into());
        }
        self.objective.check(&data.targets())?;
        self.objective.check_training(&data.targets(), data.weights.as_deref())?;
        for valid in &self.valid {
            self.objective.check(&valid.targets())?;
            if valid.cuts != data.cuts {
                return Err(TrainError::OtherCuts);
            }
        }
        if self.params.early_stopping_rounds.is_some() && (self.valid.is_empty() || self.metrics.is_empty()) {
            return Err(TrainError::NothingToWatch);
        }
        let Some(model) = self.init else {
            // Data that starts from a model without `continue_from` would give a model that lacks the earlier trees.
            let starts = all_data().any(|data| data.start.is_some());
            let reason = "the data starts from it, but the trainer does not; call Trainer::continue_from".to_owned();
            return if starts { Err(TrainError::Continue { reason }) } else { Ok(()) };
        };
        let outputs = model.output.base_scores.len();
        let reason = if outputs != self.objective.n_outputs() {
            Some(format!("it has {outputs} scores per row, but the objective has {}", self.objective.n_outputs()))
        } else if model.inputs.len() != data.n_features() {
            Some(format!("it has {} features, but the data has {}", model.inputs.len(), data.n_features()))
        } else if all_data().any(|data| data.start.as_ref().map(Vec::len) != Some(data.n_rows() * outputs)) {
            Some("the data does not start from it; call Dataset::start_from".to_owned())
        } else if model.output.link != self.objective.link() {
            let (its, own) = (model.output.link, self.objective.link());
            // Link functions with different slopes have the same name.
            let slopes = if its.name() == own.name() { " with another slope" } else { "" };
            Some(format!("its link function is {}, but that of the objective is {}{slopes}", its.name(), own.name()))
        } else if model.output.average {
            Some("its scores are averages over trees, but training adds trees up".to_owned())
        } else {
            let categories = |feature: &usize| matches!(model.inputs[*feature].kind, InputKind::Categorical { .. });
            let other = (0..data.n_features()).find(|feature| data.is_categorical(*feature) != categories(feature));
            other.map(|feature| {
                format!("feature `{}` is categorical in only one of model and data", data.schema.names()[feature])
            })
        };
        reason.map_or(Ok(()), |reason| Err(TrainError::Continue { reason }))
    }
}

/// Data that a metric was evaluated on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalSet {
    /// Training data.
    Train,
    /// The first validation set of [`Trainer::valid`].
    Valid,
    /// A further validation set, counted from 1.
    Further(usize),
}

impl fmt::Display for EvalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Train => f.pad("train"),
            Self::Valid => f.pad("valid"),
            Self::Further(number) => f.pad(&format!("valid_{number}")),
        }
    }
}

/// Value of a metric after a round.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricValue {
    /// Data that the metric was evaluated on.
    pub data: EvalSet,
    /// Name of the metric.
    pub name: String,
    /// Value of the metric.
    pub value: f64,
}

/// Progress of a training.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// 0-based index of the round.
    pub index: usize,
    /// Maximum number of rounds.
    pub total: usize,
    /// Metrics after this round.
    pub metrics: &'a [MetricValue],
}

/// Result of a training.
#[derive(Debug, Clone)]
pub struct Training {
    /// Trained model; up to the best round with early stopping.
    pub model: Model,
    /// Metrics after each round.
    pub history: Vec<Vec<MetricValue>>,
    /// Round with the best value of the first metric on the first validation set, if any was evaluated.
    pub best_round: Option<usize>,
    /// Gradient precision that was used, never `Auto`.
    pub precision: GradientPrecision,
    /// Threads that grew the trees, and their use.
    pub team: TeamUsage,
}

/// Compares results: threads and times do not count.
impl PartialEq for Training {
    fn eq(&self, other: &Self) -> bool {
        let results = |training: &Self| (training.best_round, training.precision);
        self.model == other.model && self.history == other.history && results(self) == results(other)
    }
}
