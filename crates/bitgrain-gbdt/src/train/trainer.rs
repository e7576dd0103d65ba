//! The builder of a training, and what comes out of it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use super::grow::{Codes4, Codes8, Floats};
use super::rounds::Rounds;
use super::{Dataset, Params, TrainError};
use crate::feature::FeatureError;
use crate::gradient::GradientPrecision;
use crate::metric::Metric;
use crate::model::{InputKind, Model};
use crate::objective::Objective;

/// Called after every round; it may end the training.
type OnRound<'a> = Box<dyn FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a>;

/// A training to be: settings, an objective, and what is to be watched.
pub struct Trainer<'a> {
    pub(super) params: Params,
    pub(super) objective: Box<dyn Objective>,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    /// The first is the one that early stopping goes by.
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
    /// A training by these settings.
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

    /// Measures this after every round: on the validation data if there is any, else on the training data. Early
    /// stopping goes by the first.
    #[must_use]
    pub fn metric(mut self, metric: Box<dyn Metric>) -> Self {
        self.metrics.push(metric);
        self
    }

    /// Data to measure on, made by [`Dataset::like`]. There may be several: early stopping and the best round go by the
    /// first, the others are only measured.
    #[must_use]
    pub fn valid(mut self, data: &'a Dataset) -> Self {
        self.valid.push(data);
        self
    }

    /// Measures on the training data, too.
    #[must_use]
    pub fn watch_train(mut self) -> Self {
        self.watch_train = true;
        self
    }

    /// Adds trees to those of a model. Each dataset must [start from it](Dataset::start_from).
    #[must_use]
    pub fn continue_from(mut self, model: &'a Model) -> Self {
        self.init = Some(model);
        self
    }

    /// Calls this after every round. `ControlFlow::Break` ends the training with the trees there are.
    #[must_use]
    pub fn on_round(mut self, call: impl FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a) -> Self {
        self.on_round = Some(Box::new(call));
        self
    }

    /// Grows the trees. The rows of the data are moved around meanwhile, and back at the end.
    ///
    /// # Errors
    /// [`TrainError`] if settings or data cannot be used.
    pub fn train(mut self, data: &mut Dataset) -> Result<Training, TrainError> {
        self.params.check()?;
        self.check(data)?;
        let precision = self.params.gradient_precision.of(data.n_rows());
        // From here on in the pool: handing over every small piece of work from outside would cost more than the work.
        rayon::scope(|_| match precision {
            GradientPrecision::Pair8 => Rounds::<Codes8>::new(&mut self, data)?.run(),
            GradientPrecision::Pair4 => Rounds::<Codes4>::new(&mut self, data)?.run(),
            GradientPrecision::F32 | GradientPrecision::Auto => Rounds::<Floats>::new(&mut self, data)?.run(),
        })
    }

    /// Tells the callback of a round; whether it wants an end.
    pub(super) fn tell(&mut self, round: &Round<'_>) -> bool {
        self.on_round.as_mut().is_some_and(|call| call(round).is_break())
    }

    /// What a model's file says of its training.
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
            // Its trees would be those of two models.
            let starts = all_data().any(|data| data.start.is_some());
            let reason = "the data starts from it; see Trainer::continue_from".to_owned();
            return if starts { Err(TrainError::Continue { reason }) } else { Ok(()) };
        };
        let outputs = model.output.base_scores.len();
        let reason = if outputs != self.objective.n_outputs() {
            Some(format!("it has {outputs} scores per row, the objective {}", self.objective.n_outputs()))
        } else if model.inputs.len() != data.n_features() {
            Some(format!("it has {} features, the data {}", model.inputs.len(), data.n_features()))
        } else if all_data().any(|data| data.start.as_ref().map(Vec::len) != Some(data.n_rows() * outputs)) {
            Some("the data does not start from it; see Dataset::start_from".to_owned())
        } else if model.output.link != self.objective.link() {
            let (its, own) = (model.output.link, self.objective.link());
            // Of two slopes, the names are the same.
            let slopes = if its.name() == own.name() { " of another slope" } else { "" };
            Some(format!("its predictions have the link {}, those of the objective {}{slopes}", its.name(), own.name()))
        } else if model.output.average {
            Some("its scores are means, those of a training are sums".to_owned())
        } else {
            let categories = |feature: &usize| matches!(model.inputs[*feature].kind, InputKind::Categorical { .. });
            let other = (0..data.n_features()).find(|feature| data.is_categorical(*feature) != categories(feature));
            other.map(|feature| format!("one of it and the data has categories in {}", data.schema.names()[feature]))
        };
        reason.map_or(Ok(()), |reason| Err(TrainError::Continue { reason }))
    }
}

/// Which data a metric is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalSet {
    /// The rows that trees are grown on.
    Train,
    /// The rows that were held back: the first of [`Trainer::valid`].
    Valid,
    /// Further rows that were held back, counted from 1.
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

/// A metric after a round.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricValue {
    /// On which data.
    pub data: EvalSet,
    /// Of which metric.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// How far a training has come.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// Counted from 0.
    pub index: usize,
    /// Rounds there will be at most.
    pub total: usize,
    /// The metrics after this round.
    pub metrics: &'a [MetricValue],
}

/// What came out of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// The trees; up to the best round if training stopped early.
    pub model: Model,
    /// The metrics after each round.
    pub history: Vec<Vec<MetricValue>>,
    /// The round whose first metric on the (first) validation data was best, if any was measured.
    pub best_round: Option<usize>,
    /// How gradients were kept: what `Auto` came to.
    pub precision: GradientPrecision,
}
