//! Cross-validation.

use super::{Dataset, EvalSet, MetricValue, TrainError, Trainer, Training};
use crate::Groups;
use crate::random::mixed;

/// Assignment of rows to folds.
///
/// All folds share the cuts of all rows, as in other libraries: cuts do not depend on targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossValidation {
    /// Number of folds; 5 by default.
    pub folds: usize,
    /// Whether each fold gets an equal share of every target value, for classification. Without effect on data with
    /// queries.
    pub stratified: bool,
    /// Seed of the assignment.
    pub seed: u64,
}

impl Default for CrossValidation {
    fn default() -> Self {
        Self { folds: 5, stratified: false, seed: 0 }
    }
}

/// Results of all folds.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidationResult {
    /// Training of each fold, on all rows except those of the fold.
    pub trainings: Vec<Training>,
    /// Each metric over the folds.
    pub metrics: Vec<MetricSpread>,
}

/// Values of a metric over the folds.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSpread {
    /// Name of the metric.
    pub name: String,
    /// Value of each fold after the last round, or after the best round with early stopping.
    pub values: Vec<f64>,
    /// Mean of the values.
    pub mean: f64,
    /// Standard deviation of the values.
    pub deviation: f64,
}

impl CrossValidation {
    /// Trains once per fold; `trainer` creates the trainer of a fold, including its metrics.
    ///
    /// # Errors
    /// Returns [`TrainError::Folds`] unless the number of folds is between 2 and the number of rows,
    /// [`TrainError::GroupFolds`] unless it is between 2 and the number of queries, if there are any, and the errors of
    /// [`Trainer::train`].
    pub fn run(
        &self,
        data: &Dataset,
        trainer: impl Fn(usize) -> Trainer<'static>,
    ) -> Result<CrossValidationResult, TrainError> {
        if !(2..=data.n_rows()).contains(&self.folds) {
            return Err(TrainError::Folds { folds: self.folds, rows: data.n_rows() });
        }
        let fold_of = match data.groups() {
            Some(groups) => self.assign_queries(groups)?,
            None => self.assign_folds(&data.targets()),
        };
        let mut trainings = Vec::with_capacity(self.folds);
        let mut ends = Vec::with_capacity(self.folds);
        for fold in 0..self.folds {
            let (held, kept): (Vec<usize>, Vec<usize>) = (0..data.n_rows()).partition(|&row| fold_of[row] == fold);
            let valid = data.rows(&held);
            let training: Trainer<'_> = trainer(fold);
            let stops_early = training.params.early_stopping_rounds.is_some();
            let training = training.valid(&valid).train(&mut data.rows(&kept))?;
            // With early stopping the model ends at the best round.
            let best = training.best_round.filter(|_| stops_early);
            let end = best.or(training.history.len().checked_sub(1)).and_then(|round| training.history.get(round));
            ends.push(end.cloned().unwrap_or_default());
            trainings.push(training);
        }
        let metrics = spreads(&ends);
        Ok(CrossValidationResult { trainings, metrics })
    }

    /// Returns the fold of each row of some queries: queries are shuffled and dealt in turn, and never divided.
    ///
    /// # Errors
    /// Returns [`TrainError::GroupFolds`] unless the number of folds is between 2 and the number of queries.
    pub fn assign_queries(&self, groups: &Groups) -> Result<Vec<usize>, TrainError> {
        if !(2..=groups.len()).contains(&self.folds) {
            return Err(TrainError::GroupFolds { folds: self.folds, groups: groups.len() });
        }
        let mut order: Vec<(u64, usize)> =
            (0..groups.len()).map(|group| (mixed(self.seed ^ mixed(group as u64)), group)).collect();
        order.sort_unstable();
        let mut fold_of = vec![0; groups.n_rows()];
        order.iter().enumerate().for_each(|(turn, &(_, group))| fold_of[groups.range(group)].fill(turn % self.folds));
        Ok(fold_of)
    }

    /// Returns the fold of each row: rows are shuffled (within their class if stratified) and dealt in turn.
    fn assign_folds(&self, targets: &[f32]) -> Vec<usize> {
        let class = |row: usize| if self.stratified { targets[row].to_bits() } else { 0 };
        let mut order: Vec<(u32, u64, usize)> =
            (0..targets.len()).map(|row| (class(row), mixed(self.seed ^ mixed(row as u64)), row)).collect();
        order.sort_unstable();
        let mut fold_of = vec![0; targets.len()];
        order.iter().enumerate().for_each(|(turn, &(_, _, row))| fold_of[row] = turn % self.folds);
        fold_of
    }
}

#[expect(clippy::cast_precision_loss, reason = "the number of folds is far below 2^53")]
fn spreads(of_folds: &[Vec<MetricValue>]) -> Vec<MetricSpread> {
    let names = of_folds.first().into_iter().flatten().filter(|metric| metric.data == EvalSet::Valid);
    let spread = |name: &str| {
        let value = |metrics: &Vec<MetricValue>| {
            metrics
                .iter()
                .find(|metric| metric.data == EvalSet::Valid && metric.name == name)
                .map(|metric| metric.value)
        };
        let values: Vec<f64> = of_folds.iter().filter_map(value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance =
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1).max(1) as f64;
        MetricSpread { name: name.to_owned(), values, mean, deviation: variance.sqrt() }
    };
    names.map(|metric| spread(&metric.name)).collect()
}
