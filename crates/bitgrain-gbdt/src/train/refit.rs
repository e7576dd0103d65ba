//! `Refit`: leaf values from new data, with the trees kept.

use std::borrow::Cow;
use std::sync::Arc;

use bitgrain_kernels::histograms::PairF32;

use super::scores::{Rows, gradients, relative};
use super::state::best_constants;
use super::team::Team;
use super::{Params, Targets, TrainError};
use crate::Groups;
use crate::feature::{FeatureError, Features};
use crate::model::{Model, Tree};
use crate::objective::Objective;
use crate::parameter::ParameterError;
use crate::predict::Predictor;
use crate::samples::check_weights;

/// Maximum number of leaf indices that are held at a time.
const LEAVES: usize = 1 << 24;

/// Replacement of the leaf values of a model by those of new data, with LightGBM's rules.
///
/// The splits of the trees are kept. In the order of the trees, each leaf gets the value that training would give it for
/// the new rows, times the learning rate of its tree; the result is `decay_rate` times the old value plus `1 - decay_rate`
/// times the new one. The new value of a leaf without rows is 0. Base scores are mixed in the same way.
///
/// ```
/// use bitgrain_gbdt::feature::{Features, Quantizer};
/// use bitgrain_gbdt::objective::by_name;
/// use bitgrain_gbdt::train::{Dataset, Params, Refit, RefitData, Trainer};
/// let features = Features::row_major(&[0.0_f32, 1.0][..], 2, 1)?;
/// let mut data = Dataset::new(&features, vec![1.0, 3.0], None, &Quantizer::default())?;
/// let params = Params { n_estimators: 1, learning_rate: 1.0, min_child_samples: 1, ..Params::default() };
/// let model = Trainer::new(params, by_name("squared")?).train(&mut data)?.model;
/// assert_eq!(model.raw_scores_of(&[1.0]), [3.0]);
/// let new = RefitData { features: &features, targets: vec![1.0_f32, 7.0].into(), weights: None, groups: None };
/// let refitted = Refit { decay_rate: 0.5, ..Refit::default() }.run(&model, by_name("squared")?, new)?;
/// // The new mean is 4, so the base score becomes 3. The new residual is 7 - 3, so the leaf becomes (1 + 4) / 2.
/// assert_eq!(refitted.raw_scores_of(&[1.0]), [5.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Refit {
    /// Weight of the old leaf values, from 0 to 1.
    pub decay_rate: f64,
    /// Learning rate of all trees; by default, that of each tree during training.
    pub learning_rate: Option<f64>,
    /// L1 penalty on leaf values.
    pub reg_alpha: f64,
    /// L2 penalty on leaf values.
    pub reg_lambda: f64,
    /// Maximum absolute value of a leaf before the learning rate; 0 is unlimited.
    pub max_delta_step: f64,
}

impl Default for Refit {
    fn default() -> Self {
        Self { decay_rate: 0.9, learning_rate: None, reg_alpha: 0.0, reg_lambda: 0.0, max_delta_step: 0.0 }
    }
}

/// Rows that leaf values are fitted to.
#[derive(Debug)]
pub struct RefitData<'a> {
    /// Features in the order of the model's inputs.
    pub features: &'a Features<'a>,
    /// Target of each row; class indices for classifiers.
    pub targets: Targets,
    /// Weight of each row.
    pub weights: Option<Vec<f32>>,
    /// Queries, for ranking.
    pub groups: Option<Groups>,
}

impl Refit {
    /// Returns a copy of a model with refitted leaf values. The objective is usually that of the model; its link function
    /// must be the same.
    ///
    /// # Errors
    /// Returns [`TrainError::Refit`] if model, objective and data do not match, [`TrainError::Parameter`] if a setting is
    /// out of range, and the errors of training for invalid targets, weights and gradients.
    pub fn run(
        &self,
        model: &Model,
        mut objective: Box<dyn Objective>,
        data: RefitData<'_>,
    ) -> Result<Model, TrainError> {
        self.check()?;
        let refused = |reason: String| Err(TrainError::Refit { reason });
        let rates = match (self.learning_rate, model.rates()) {
            (Some(rate), _) => vec![if model.output.average { 1.0 } else { rate }; model.trees.len()],
            (None, Some(rates)) => rates,
            (None, None) => return refused("the learning rate of its trees is unknown; pass learning_rate".to_owned()),
        };
        let (outputs, own) = (model.n_outputs(), objective.n_outputs());
        if outputs != own {
            return refused(format!("it has {outputs} scores per row, but the objective has {own}"));
        }
        if model.output.link != objective.link() {
            let (its, own) = (model.output.link.name(), objective.link().name());
            return refused(format!("its link function is {its}, but that of the objective is {own}"));
        }
        let (found, expected) = (data.features.n_features(), model.n_inputs());
        if found != expected {
            return refused(format!("it has {expected} features, but the data has {found}"));
        }
        let RefitData { features, targets, weights, groups } = data;
        let (n_rows, groups) = (features.n_rows(), groups.map(Arc::new));
        if targets.len() != n_rows {
            return Err(TrainError::TargetCount { targets: targets.len(), rows: n_rows });
        }
        if let Some(weights) = &weights {
            check_weights(weights, n_rows).map_err(FeatureError::from)?;
        }
        let rounded = targets.rounded();
        objective.prepare(&Params::default(), &rounded, groups.as_ref())?;
        objective.check(&rounded)?;
        objective.check_training(&rounded, weights.as_deref())?;
        drop(rounded);
        let (origin, best) = best_constants(&*objective, &targets, weights.as_deref());
        let base_scores = if model.output.base_scores.iter().all(|&score| score == 0.0) {
            // Part of the leaves of the first round, as in LightGBM, or of all leaves of a forest.
            model.output.base_scores.clone()
        } else {
            model.output.base_scores.iter().zip(&best).map(|(&old, &new)| self.mixed(old, new)).collect()
        };
        let start = if model.output.average { &best } else { &base_scores };
        let scores: Vec<f64> = start.iter().flat_map(|&score| std::iter::repeat_n(score, n_rows)).collect();
        let targets = targets.relative_to(origin);
        let mut fit = Fit { refit: self, objective, targets, weights, groups, origin, scores, model };
        let bias = if model.output.average { best } else { vec![0.0; outputs] };
        let trees = Team::with(rayon::current_num_threads(), |team| fit.trees(team, features, &rates, &bias))?;
        let mut refitted = Model { trees, ..model.clone() };
        refitted.output.base_scores = base_scores;
        refitted.metadata.insert("refit.decay_rate".to_owned(), self.decay_rate.to_string());
        refitted.set_rates(&rates);
        Ok(refitted)
    }

    /// Mixes an old and a new value.
    fn mixed(&self, old: f64, new: f64) -> f64 {
        self.decay_rate * old + (1.0 - self.decay_rate) * new
    }

    fn check(&self) -> Result<(), TrainError> {
        let invalid = |name: &str, value: f64, takes: &str| {
            let (name, value, takes) = (name.to_owned(), value.to_string(), takes.to_owned());
            Err(ParameterError::Invalid { name, value, takes, wrong_type: false }.into())
        };
        if !(0.0..=1.0).contains(&self.decay_rate) {
            return invalid("decay_rate", self.decay_rate, "a number from 0 to 1");
        }
        // The other settings are parameters of training.
        let Self { learning_rate, reg_alpha, reg_lambda, max_delta_step, .. } = *self;
        let learning_rate = learning_rate.unwrap_or(0.1);
        Ok(Params { learning_rate, reg_alpha, reg_lambda, max_delta_step, ..Params::default() }.check()?)
    }

    /// Returns the best value of a leaf with these sums.
    fn step(&self, grad: f64, hess: f64) -> f64 {
        let hess = hess + self.reg_lambda;
        let shrunk = grad.signum() * (grad.abs() - self.reg_alpha).max(0.0);
        let step = if hess > 0.0 { -shrunk / hess } else { 0.0 };
        if self.max_delta_step > 0.0 { step.clamp(-self.max_delta_step, self.max_delta_step) } else { step }
    }
}

/// State of a refit.
struct Fit<'a> {
    refit: &'a Refit,
    objective: Box<dyn Objective>,
    /// Targets relative to `origin`.
    targets: Vec<f32>,
    weights: Option<Vec<f32>>,
    groups: Option<Arc<Groups>>,
    origin: f64,
    /// Scores of all rows, grouped by output.
    scores: Vec<f64>,
    model: &'a Model,
}

impl Fit<'_> {
    fn trees(
        &mut self,
        team: &Team<'_>,
        features: &Features<'_>,
        rates: &[f64],
        bias: &[f64],
    ) -> Result<Vec<Tree>, TrainError> {
        let (n_rows, outputs, n_rounds) = (self.targets.len(), self.model.n_outputs(), self.model.n_rounds());
        let rounds_at_once = (LEAVES / (n_rows * outputs).max(1)).max(1);
        let mut exact = vec![PairF32::default(); n_rows * outputs];
        let mut trees: Vec<Tree> = Vec::with_capacity(self.model.trees.len());
        for first in (0..n_rounds).step_by(rounds_at_once) {
            let part = self.model.slice(first..n_rounds.min(first + rounds_at_once));
            let leaves = Predictor::new(&part).and_then(|predictor| predictor.leaves(features));
            let leaves = leaves.map_err(|error| TrainError::Refit { reason: error.to_string() })?;
            let width = part.trees.len();
            for (at, tree) in part.trees.into_iter().enumerate() {
                let (index, output) = (trees.len(), at % outputs);
                if output == 0 {
                    self.gradients(team, index / outputs, &mut exact)?;
                }
                let leaf_of: Vec<u32> = leaves.iter().skip(at).step_by(width).copied().collect();
                let exact = &exact[output * n_rows..(output + 1) * n_rows];
                let values = self.values(&tree, &leaf_of, exact, output);
                let mut tree = tree;
                for (leaf, value) in tree.leaves.iter_mut().zip(values) {
                    leaf.value = self.refit.mixed(leaf.value, bias[output] + value * rates[index]);
                }
                if !self.model.output.average {
                    let scores = &mut self.scores[output * n_rows..(output + 1) * n_rows];
                    let added = leaf_of.iter().map(|&leaf| tree.leaves[leaf as usize].value);
                    scores.iter_mut().zip(added).for_each(|(score, value)| *score += value);
                }
                trees.push(tree);
            }
        }
        Ok(trees)
    }

    fn gradients(&mut self, team: &Team<'_>, round: usize, out: &mut [PairF32]) -> Result<(), TrainError> {
        let Self { targets, weights, scores, origin, .. } = self;
        let rows = Rows { targets, weights: weights.as_deref(), scores, origin: *origin };
        let groups = self.groups.as_deref().filter(|_| self.objective.ranks());
        gradients(team, &*self.objective, rows, groups, round, out)?;
        if groups.is_some() {
            self.objective.end_round(out);
        }
        Ok(())
    }

    /// Returns the best values of the leaves of a tree. Sums are in the order of the rows.
    fn values(&self, tree: &Tree, leaf_of: &[u32], exact: &[PairF32], output: usize) -> Vec<f64> {
        let n_rows = leaf_of.len();
        if !self.objective.renews_leaves() {
            let mut sums = vec![(0.0, 0.0); tree.leaves.len()];
            for (&leaf, pair) in leaf_of.iter().zip(exact) {
                let (grad, hess) = &mut sums[leaf as usize];
                *grad += f64::from(pair.grad);
                *hess += f64::from(pair.hess);
            }
            return sums.into_iter().map(|(grad, hess)| self.refit.step(grad, hess)).collect();
        }
        let scores = &self.scores[output * n_rows..(output + 1) * n_rows];
        let weights = self.weights.as_deref().map_or(Cow::Owned(vec![1.0; n_rows]), Cow::Borrowed);
        let mut residuals: Vec<Vec<(f32, f32)>> = vec![Vec::new(); tree.leaves.len()];
        for (row, &leaf) in leaf_of.iter().enumerate() {
            let (target, score) = (self.targets[row], scores[row] - self.origin);
            let weight = self.objective.leaf_weight(target, weights[row]);
            residuals[leaf as usize].push((relative(f64::from(target), score), weight));
        }
        let renewed = |mut of_leaf: Vec<(f32, f32)>| self.objective.renew_leaf(&mut of_leaf).unwrap_or(0.0);
        residuals.into_iter().map(renewed).collect()
    }
}
