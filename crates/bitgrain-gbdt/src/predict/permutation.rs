//! Permutation importance: the loss in quality when the values of a feature are shuffled.

use super::{PredictError, Predictor};
use crate::SampleError;
use crate::feature::{FeatureError, Features};
use crate::metric::{Metric, MetricError, MetricInput};
use crate::model::{Importance, Model};
use crate::random::mixed;
use crate::train::TrainError;

/// Permutation importance of all features.
#[derive(Debug, Clone, PartialEq)]
pub struct PermutationReport {
    /// Value of the metric on the unshuffled rows.
    pub baseline: f64,
    /// Importance of each feature.
    pub features: Vec<PermutationImportance>,
}

/// Permutation importance of a feature.
#[derive(Debug, Clone, PartialEq)]
pub struct PermutationImportance {
    /// Deterioration of the metric in each repetition; positive if the feature helps, whether or not larger metric
    /// values are better.
    pub losses: Vec<f64>,
    /// Mean of the deteriorations.
    pub mean: f64,
    /// Standard deviation of the deteriorations, with the number of repetitions as the divisor.
    pub deviation: f64,
}

/// Data that importance is measured on; held-out rows are most informative.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationData<'a> {
    /// Raw features of the model.
    pub features: &'a Features<'a>,
    /// Target of each row.
    pub targets: &'a [f64],
    /// Weight of each row; 1 by default.
    pub weights: Option<&'a [f32]>,
}

/// Evaluates a model once per feature and repetition, with the values of the feature shuffled.
///
/// Needs memory for a copy of the features and the predictions of one evaluation. A feature that no tree uses is not
/// evaluated: its importance is 0. The shuffles depend on the seed only, not on the number of threads.
///
/// # Errors
/// Returns an [`ImportanceError`] if `repeats` is 0, the features do not match the model, a target is missing, or the
/// metric is undefined.
pub fn permutation_importance(
    model: &Model,
    data: &EvaluationData<'_>,
    metric: &dyn Metric,
    repeats: usize,
    seed: u64,
) -> Result<PermutationReport, ImportanceError> {
    if repeats == 0 {
        return Err(ImportanceError::NoRepeats);
    }
    let predictor = Predictor::new(model)?;
    let (n_rows, n_features) = (data.features.n_rows(), data.features.n_features());
    if data.targets.len() != n_rows {
        return Err(TrainError::TargetCount { targets: data.targets.len(), rows: n_rows }.into());
    }
    if let Some(row) = data.targets.iter().position(|target| target.is_nan()) {
        return Err(ImportanceError::Sample(SampleError::MissingTarget { row }));
    }
    let mut columns = vec![0.0_f64; n_rows * n_features];
    data.features.read_f64(0..n_features, 0..n_rows, &mut columns, n_rows);
    let measure = |columns: &[f64]| -> Result<f64, ImportanceError> {
        let by_row = predictor.predict(&Features::column_major(columns, n_rows, n_features)?)?;
        // `Features` has at least one row.
        let outputs = by_row.len() / n_rows;
        let predictions: Vec<f64> =
            (0..outputs).flat_map(|output| by_row.iter().skip(output).step_by(outputs)).copied().collect();
        let (targets, weights) = (data.targets, data.weights);
        let evaluated = MetricInput { targets, weights, predictions: &predictions, groups: None };
        Ok(metric.evaluate(&evaluated)?)
    };
    let baseline = measure(&columns)?;
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    let used = model.feature_importance(Importance::Split);
    let mut all = Vec::with_capacity(n_features);
    for (feature, &splits) in used.iter().enumerate() {
        let mut losses = vec![0.0; repeats];
        if splits > 0.0 {
            let range = feature * n_rows..(feature + 1) * n_rows;
            let original = columns[range.clone()].to_vec();
            for (repeat, loss) in losses.iter_mut().enumerate() {
                shuffle(&mut columns[range.clone()], mixed(seed ^ mixed(((feature as u64) << 32) ^ repeat as u64)));
                *loss = sign * (baseline - measure(&columns)?);
                columns[range.clone()].copy_from_slice(&original);
            }
        }
        all.push(spread(losses));
    }
    Ok(PermutationReport { baseline, features: all })
}

#[expect(clippy::cast_precision_loss, reason = "the number of repetitions is far below 2^53")]
fn spread(losses: Vec<f64>) -> PermutationImportance {
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / count;
    PermutationImportance { losses, mean, deviation: variance.sqrt() }
}

/// Fisher-Yates shuffle.
fn shuffle(values: &mut [f64], seed: u64) {
    let mut state = seed;
    for last in (1..values.len()).rev() {
        state = mixed(state);
        let other = (u128::from(state) * (last as u128 + 1)) >> 64;
        values.swap(last, usize::try_from(other).unwrap_or(last));
    }
}

/// Reason why importance cannot be measured.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportanceError {
    /// No repetitions.
    #[error("the number of repeats must be at least 1")]
    NoRepeats,
    /// A missing target.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Features that do not match the model.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// A metric that cannot be evaluated.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Invalid features.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// Invalid targets.
    #[error(transparent)]
    Data(#[from] TrainError),
}
