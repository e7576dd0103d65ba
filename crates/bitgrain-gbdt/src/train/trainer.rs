//! `Trainer`: builder of a training, and its result.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use super::constrain::Constraints;
use super::grow::{Codes4, Codes8, Floats};
use super::init_scores;
use super::rounds::Rounds;
use super::schedule::Schedule;
use super::team::Team;
use super::usage::TeamUsage;
use super::{Boosting, Checkpoint, Dataset, Params, StopOn, TrainError};
use crate::distributed::{CommunicationError, Communicator, Peers};
use crate::feature::FeatureError;
use crate::gradient::GradientPrecision;
use crate::metric::{Metric, MetricError};
use crate::model::{InputKind, Model};
use crate::objective::Objective;

/// Callback after every round, which can end the training.
pub(super) type OnRound<'a> = Box<dyn FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a>;

/// Builder of a training: parameters, objective, validation data, metrics.
pub struct Trainer<'a> {
    pub(super) params: Params,
    pub(super) objective: Box<dyn Objective>,
    pub(super) metrics: Vec<Box<dyn Metric>>,
    /// Validation sets; early stopping uses the first.
    pub(super) valid: Vec<&'a Dataset>,
    pub(super) init: Option<&'a Model>,
    pub(super) watch_train: bool,
    pub(super) stop_on: StopOn,
    pub(super) on_round: Option<OnRound<'a>>,
    pub(super) schedule: Option<Schedule<'a>>,
    /// Training to resume, whose model is `init`.
    pub(super) checkpoint: Option<&'a Checkpoint>,
    group: Option<&'a dyn Communicator>,
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
            stop_on: StopOn::default(),
            on_round: None,
            schedule: None,
            checkpoint: None,
            group: None,
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

    /// Resumes a training at a checkpoint, with the same parameters and data. With quantized gradients (`pair8`, `pair4`)
    /// the result has the same bits as without the interruption; sums of f32 gradients depend on the order of the rows,
    /// which a checkpoint does not contain, so f32 models differ by rounding. Every dataset must [start from](Dataset::start_from) the model of the checkpoint.
    #[must_use]
    pub fn resume(mut self, checkpoint: &'a Checkpoint) -> Self {
        self.init = Some(&checkpoint.model);
        self.checkpoint = Some(checkpoint);
        self
    }

    /// Selects the metric and the validation set of early stopping and of the best round; the first of each by default.
    #[must_use]
    pub fn stop_on(mut self, stop_on: StopOn) -> Self {
        self.stop_on = stop_on;
        self
    }

    /// Sets a callback that may change parameters before every round, given its 0-based index: the learning rate, sizes
    /// and penalties of trees, and fractions of samples.
    #[must_use]
    pub fn before_round(mut self, change: impl FnMut(usize, &mut Params) + Send + Sync + 'a) -> Self {
        self.schedule = Some(Schedule::new(change));
        self
    }

    /// Sets a callback that is called after every round. `ControlFlow::Break` ends the training with the trees grown so
    /// far.
    #[must_use]
    pub fn on_round(mut self, call: impl FnMut(&Round<'_>) -> ControlFlow<()> + Send + Sync + 'a) -> Self {
        self.on_round = Some(Box::new(call));
        self
    }

    /// Trains on the rows of all workers of a group, each of which calls [`train`](Self::train) with its own rows; see
    /// [`distributed`](crate::distributed). Gradients must be quantized (`pair8` or `pair4`).
    #[must_use]
    pub fn distributed(mut self, group: &'a dyn Communicator) -> Self {
        self.group = Some(group);
        self
    }

    /// Trains a model. The rows of `data` are reordered during training and restored at the end.
    ///
    /// # Errors
    /// Returns a [`TrainError`] if parameters or data are invalid.
    pub fn train(mut self, data: &mut Dataset) -> Result<Training, TrainError> {
        let peers = Peers::meet(self.group, data.n_rows(), &self.arguments())?;
        let prepared = self.prepared(data, &peers);
        let (constraints, precision) = peers.agree(prepared)?;
        let (constraints, peers) = (constraints.as_ref(), &peers);
        let threads = if data.is_tiny() { 1 } else { rayon::current_num_threads() };
        let mut run = || {
            Team::with(threads, |team| match precision {
                GradientPrecision::Pair8 => {
                    Rounds::<Codes8>::new(team, &mut self, data, constraints, peers).and_then(Rounds::run)
                }
                GradientPrecision::Pair4 => {
                    Rounds::<Codes4>::new(team, &mut self, data, constraints, peers).and_then(Rounds::run)
                }
                GradientPrecision::F32 | GradientPrecision::Auto => {
                    Rounds::<Floats>::new(team, &mut self, data, constraints, peers).and_then(Rounds::run)
                }
            })
        };
        // Within a pool, because the loops that stay with rayon (validation, metrics) would each be handed over to it.
        if peers.are_alone() {
            return rayon::scope(|_| run());
        }
        // A training waits for the other workers. If some of them are threads of this process, waiting in a pool that they
        // share could take its last thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool =
            pool.map_err(|error| CommunicationError::Worker { rank: peers.rank(), message: error.to_string() })?;
        pool.install(run)
    }

    /// Prepares objective and metrics, and checks the training without other workers.
    fn prepared(
        &mut self,
        data: &Dataset,
        peers: &Peers<'_>,
    ) -> Result<(Option<Constraints>, GradientPrecision), TrainError> {
        self.params.check()?;
        let precision = self.params.gradient_precision.of(peers.n_rows());
        if !peers.are_alone() {
            self.check_distributed(data, precision, peers.n_rows())?;
        }
        self.objective.prepare(&self.params, &data.targets(), data.groups.as_ref())?;
        self.metrics.iter_mut().for_each(|metric| metric.prepare(&self.params));
        self.check(data, peers)?;
        let constraints = Constraints::new(&self.params, data)?;
        super::memory::check(data, &self.params, precision, &*self.objective)?;
        Ok((constraints, precision))
    }

    /// Describes what must be the same on all workers.
    fn arguments(&self) -> String {
        let metrics: Vec<String> = self.metrics.iter().map(|metric| metric.name()).collect();
        let (objective, sets, done) =
            (self.objective.name(), self.valid.len(), self.init.map(|model| model.trees.len()));
        let (params, watch, stop_on) = (&self.params, self.watch_train, self.stop_on);
        format!("{params:?} {objective} {metrics:?} {sets} {watch} {stop_on:?} {done:?}")
    }

    /// Rejects what depends on the order of float sums, or on rows of other workers.
    fn check_distributed(&self, data: &Dataset, precision: GradientPrecision, all: usize) -> Result<(), TrainError> {
        let refused = |setting: &str, reason| Err(TrainError::NotDistributed { setting: setting.to_owned(), reason });
        if precision == GradientPrecision::F32 {
            let reason =
                "sums of floats depend on their order, and thus on the number of workers; set it to pair8 or pair4";
            return refused(&format!("gradient_precision `{}`", self.params.gradient_precision), reason);
        }
        if i32::try_from(all).is_err() {
            return refused("a table of more than 2147483647 rows", "sums of codes have 32 bits; sample the rows");
        }
        if self.objective.needs_all_rows() {
            return refused("an objective that needs all rows", "its gradients depend on rows of other workers");
        }
        if self.objective.name().starts_with("rank_xendcg") {
            return refused("objective `rank_xendcg`", "its random numbers depend on row indices; use lambdarank");
        }
        if data.groups().is_some_and(|groups| groups.has_positions()) {
            return refused(
                "a position per row",
                "the bias of positions is learned from all rows in order; omit positions",
            );
        }
        Ok(())
    }

    /// Returns the metadata of the model file.
    pub(super) fn metadata(&self, best_round: Option<usize>) -> BTreeMap<String, String> {
        let Params { n_estimators, learning_rate, num_leaves, growth, gradient_precision, seed, boosting, .. } =
            &self.params;
        let mut said = vec![
            ("rounds", n_estimators.to_string()),
            ("learning_rate", learning_rate.to_string()),
            ("num_leaves", num_leaves.to_string()),
            ("growth", format!("{growth:?}").to_lowercase()),
            ("precision", gradient_precision.to_string()),
            ("seed", seed.to_string()),
        ];
        if *boosting != Boosting::Gbdt {
            said.push(("boosting", format!("{boosting:?}").to_lowercase()));
        }
        said.extend(best_round.map(|round| ("best_round", round.to_string())));
        said.into_iter().map(|(key, value)| (format!("train.{key}"), value)).collect()
    }

    fn check(&self, data: &Dataset, peers: &Peers<'_>) -> Result<(), TrainError> {
        let all_data = || std::iter::once(data).chain(self.valid.iter().copied());
        if peers.n_rows() == 0 || peers.are_alone() && all_data().any(|data| data.n_rows() == 0) {
            return Err(FeatureError::Empty { rows: 0, features: data.n_features() }.into());
        }
        self.objective.check(&data.targets())?;
        if peers.are_alone() {
            self.objective.check_training(&data.targets(), data.weights.as_deref())?;
        }
        for valid in &self.valid {
            self.objective.check(&valid.targets())?;
            if valid.cuts != data.cuts {
                return Err(TrainError::OtherCuts);
            }
        }
        let watched = if self.valid.is_empty() || self.watch_train { Some(data) } else { None };
        let lacks_groups = self.valid.iter().copied().chain(watched).any(|data| data.groups.is_none());
        if let Some(metric) = self.metrics.iter().find(|metric| lacks_groups && metric.needs_groups()) {
            return Err(MetricError::NoGroups { metric: metric.name() }.into());
        }
        if self.params.early_stopping_rounds.is_some() && (self.valid.is_empty() || self.metrics.is_empty()) {
            return Err(TrainError::NothingToWatch);
        }
        if !self.metrics.is_empty() {
            self.stop_on.check(self.metrics.len(), self.valid.len().max(1))?;
        }
        init_scores::check(data, &self.valid, self.init.is_some(), self.objective.n_outputs())?;
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.check(&self.params, &*self.objective)?;
        }
        if self.params.boosting == Boosting::Rf && all_data().any(|data| data.init_scores) {
            let reason = "a random forest does not start from scores; use boosting gbdt or dart".to_owned();
            return Err(TrainError::InitScores { reason });
        }
        let Some(model) = self.init else {
            // Data that starts from a model without `continue_from` would give a model that lacks the earlier trees.
            let starts = all_data().any(|data| data.start.is_some() && !data.init_scores);
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
        } else {
            let categories = |feature: &usize| matches!(model.inputs[*feature].kind, InputKind::Categorical { .. });
            let other = (0..data.n_features()).find(|feature| data.is_categorical(*feature) != categories(feature));
            other.map(|feature| {
                format!("feature `{}` is categorical in only one of model and data", data.schema.names()[feature])
            })
        };
        match reason {
            Some(reason) => Err(TrainError::Continue { reason }),
            None => self.params.check_continues(model),
        }
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
#[derive(Clone, Copy)]
pub struct Round<'a> {
    /// 0-based index of the round.
    pub index: usize,
    /// Maximum number of rounds.
    pub total: usize,
    /// Metrics after this round.
    pub metrics: &'a [MetricValue],
    pub(super) history: &'a [Vec<MetricValue>],
    pub(super) params: &'a Params,
    pub(super) model: &'a dyn Fn() -> Model,
}

impl Round<'_> {
    /// Builds the model of all rounds so far, in time proportional to its trees.
    #[must_use]
    pub fn model(&self) -> Model {
        (self.model)()
    }

    /// Builds a checkpoint, from which [`Trainer::resume`] continues the training.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(self.model(), self.history, self.params)
    }
}

impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, total, metrics, .. } = self;
        f.debug_struct("Round").field("index", index).field("total", total).field("metrics", metrics).finish()
    }
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
