//! Cross-validation: every row is held back once.

use super::{Dataset, EvalSet, MetricValue, TrainError, Trainer, Training};
use crate::random::mixed;

/// How rows are dealt to folds.
///
/// Folds share the cuts of all rows, as in other libraries: cuts say nothing of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrossValidation {
    /// Number of folds; 5.
    pub folds: usize,
    /// Whether each fold gets its share of every target: for classes.
    pub stratified: bool,
    /// Chooses the rows of each fold.
    pub seed: u64,
}

impl Default for CrossValidation {
    fn default() -> Self {
        Self { folds: 5, stratified: false, seed: 0 }
    }
}

/// What came out of every fold.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossValidationResult {
    /// The training on all rows but those of the fold, which it was measured on.
    pub trainings: Vec<Training>,
    /// Each metric over the folds.
    pub metrics: Vec<MetricSpread>,
}

/// A metric over the folds.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSpread {
    /// Its name.
    pub name: String,
    /// After the last round of each fold, or after its best if training stopped early.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

impl CrossValidation {
    /// Trains once for each fold; `trainer` makes each training, with the metrics it is to be measured by.
    ///
    /// # Errors
    /// [`TrainError::Folds`] unless there are from 2 folds to one for each row, and whatever a training can meet.
    pub fn run(
        &self,
        data: &Dataset,
        trainer: impl Fn(usize) -> Trainer<'static>,
    ) -> Result<CrossValidationResult, TrainError> {
        if !(2..=data.n_rows()).contains(&self.folds) {
            return Err(TrainError::Folds { folds: self.folds, rows: data.n_rows() });
        }
        let fold_of = self.deal(&data.targets());
        let mut trainings = Vec::with_capacity(self.folds);
        let mut ends = Vec::with_capacity(self.folds);
        for fold in 0..self.folds {
            let (held, kept): (Vec<usize>, Vec<usize>) = (0..data.n_rows()).partition(|&row| fold_of[row] == fold);
            let valid = data.rows(&held);
            let training: Trainer<'_> = trainer(fold);
            let stops_early = training.params.early_stopping_rounds.is_some();
            let training = training.valid(&valid).train(&mut data.rows(&kept))?;
            // The best round if training ended there, else the last.
            let best = training.best_round.filter(|_| stops_early);
            let end = best.or(training.history.len().checked_sub(1)).and_then(|round| training.history.get(round));
            ends.push(end.cloned().unwrap_or_default());
            trainings.push(training);
        }
        let metrics = spreads(&ends);
        Ok(CrossValidationResult { trainings, metrics })
    }

    /// The fold of each row: rows in a random order, within their class if stratified, are dealt in turn.
    fn deal(&self, targets: &[f32]) -> Vec<usize> {
        let class = |row: usize| if self.stratified { targets[row].to_bits() } else { 0 };
        let mut order: Vec<(u32, u64, usize)> =
            (0..targets.len()).map(|row| (class(row), mixed(self.seed ^ mixed(row as u64)), row)).collect();
        order.sort_unstable();
        let mut fold_of = vec![0; targets.len()];
        order.iter().enumerate().for_each(|(turn, &(_, _, row))| fold_of[row] = turn % self.folds);
        fold_of
    }
}

#[expect(clippy::cast_precision_loss, reason = "folds are few")]
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
