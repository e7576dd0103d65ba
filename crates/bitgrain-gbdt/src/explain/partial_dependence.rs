//! Partial dependence: the mean prediction when a feature is set to each of several values.

use super::ExplainError;
use crate::feature::Features;
use crate::model::Model;
use crate::predict::Predictor;

/// Partial dependence of a model on one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialDependence {
    /// Values that the feature was set to.
    pub grid: Vec<f64>,
    /// Mean prediction per grid value and output, grid-major.
    pub mean: Vec<f64>,
    /// Prediction per grid value, row and output, grid-major: individual conditional expectations (ICE).
    pub individual: Vec<f64>,
}

/// Sets a feature of all rows to each value of `grid` and predicts.
///
/// # Errors
/// Returns [`ExplainError::Feature`], [`ExplainError::Predict`] if rows do not match the model, or
/// [`ExplainError::Memory`].
pub fn partial_dependence(
    model: &Model,
    features: &Features<'_>,
    feature: usize,
    grid: &[f64],
) -> Result<PartialDependence, ExplainError> {
    let (n_rows, n_features) = (features.n_rows(), features.n_features());
    if feature >= model.n_inputs() {
        return Err(ExplainError::Feature { feature, features: model.n_inputs() });
    }
    let predictor = Predictor::new(model)?;
    let (n_outputs, mut individual) = (predictor.n_outputs(), Vec::new());
    let total = n_rows.checked_mul(n_outputs).and_then(|row| row.checked_mul(grid.len()));
    total
        .and_then(|total| individual.try_reserve_exact(total).ok())
        .ok_or(ExplainError::Memory { rows: n_rows, values: n_outputs.saturating_mul(grid.len()) })?;
    let mut columns = vec![0.0_f64; n_rows * n_features];
    features.read_f64(0..n_features, 0..n_rows, &mut columns, n_rows);
    let mut mean = Vec::with_capacity(grid.len() * n_outputs);
    for &value in grid {
        if let Some(column) = columns.get_mut(feature * n_rows..(feature + 1) * n_rows) {
            column.fill(value);
        }
        let predictions = predictor.predict(&Features::column_major(&columns[..], n_rows, n_features)?)?;
        for output in 0..n_outputs {
            let sum: f64 = predictions.iter().skip(output).step_by(n_outputs).sum();
            #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
            mean.push(sum / n_rows as f64);
        }
        individual.extend_from_slice(&predictions);
    }
    Ok(PartialDependence { grid: grid.to_vec(), mean, individual })
}
