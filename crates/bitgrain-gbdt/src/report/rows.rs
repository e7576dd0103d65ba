//! `Rows`: the rows that a report is made from, evenly spaced ones if there are many.

use super::ReportError;
use crate::SampleError;
use crate::feature::{FeatureError, Features};
use crate::model::Model;
use crate::predict::{EvaluationData, PredictError};
use crate::samples::check_weights;

/// Maximum number of sampled rows: curves and quantiles of more rows look the same.
const MAX_ROWS: usize = 50_000;

/// Maximum number of sampled values, for tables with many columns.
const MAX_CELLS: usize = 20_000_000;

/// Sampled rows of a table.
pub(super) struct Rows {
    /// Values as splits compare them, column-major; missing values are NaN.
    columns: Vec<f64>,
    pub(super) targets: Vec<f64>,
    pub(super) weights: Option<Vec<f32>>,
    /// Number of sampled rows.
    pub(super) n_rows: usize,
    /// Number of rows of the table.
    pub(super) total: usize,
    n_features: usize,
}

impl Rows {
    pub(super) fn sample(model: &Model, data: &EvaluationData<'_>) -> Result<Self, ReportError> {
        let (total, n_features) = (data.features.n_rows(), data.features.n_features());
        if n_features != model.n_inputs() {
            return Err(PredictError::FeatureCount { expected: model.n_inputs(), found: n_features }.into());
        }
        if data.targets.len() != total {
            return Err(ReportError::TargetCount { targets: data.targets.len(), rows: total });
        }
        if let Some(row) = data.targets.iter().position(|target| target.is_nan()) {
            return Err(SampleError::MissingTarget { row }.into());
        }
        if let Some(weights) = data.weights {
            check_weights(weights, total)?;
        }
        let chosen = evenly(total, MAX_ROWS.min((MAX_CELLS / n_features.max(1)).max(100)));
        let n_rows = chosen.len();
        let (mut columns, mut row_values) = (vec![0.0; n_rows * n_features], vec![0.0; n_features]);
        for (at, &row) in chosen.iter().enumerate() {
            data.features.read_row(row, &mut row_values);
            for (feature, value) in row_values.iter().enumerate() {
                columns[feature * n_rows + at] = model.inputs[feature].normalize(*value, model.comparison);
            }
        }
        let targets = chosen.iter().map(|&row| data.targets[row]).collect();
        let weights = data.weights.map(|weights| chosen.iter().map(|&row| weights[row]).collect());
        Ok(Self { columns, targets, weights, n_rows, total, n_features })
    }

    /// Values of a feature.
    pub(super) fn column(&self, feature: usize) -> &[f64] {
        &self.columns[feature * self.n_rows..][..self.n_rows]
    }

    pub(super) fn features(&self) -> Result<Features<'_>, FeatureError> {
        Features::column_major(&self.columns[..], self.n_rows, self.n_features)
    }

    /// Returns at most `most` evenly spaced rows, column-major, and their indices.
    pub(super) fn fewer(&self, most: usize) -> (Vec<f64>, Vec<usize>) {
        let chosen = evenly(self.n_rows, most);
        let columns = (0..self.n_features).flat_map(|feature| {
            let column = self.column(feature);
            chosen.iter().map(move |&row| column[row])
        });
        (columns.collect(), chosen)
    }

    /// Weight of a row.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]))
    }

    /// Returns whether some rows were left out.
    pub(super) fn is_sampled(&self) -> bool {
        self.n_rows < self.total
    }
}

/// Returns at most `most` evenly spaced indices below `count`.
pub(super) fn evenly(count: usize, most: usize) -> Vec<usize> {
    let kept = count.min(most);
    // The product of a row index and a sample size may exceed 32 bits.
    let at = |i: usize| usize::try_from(i as u128 * count as u128 / kept.max(1) as u128).unwrap_or(0);
    (0..kept).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_all_rows() {
        assert_eq!(evenly(10, 4), [0, 2, 5, 7]);
        assert_eq!(evenly(3, 4), [0, 1, 2]);
        assert!(evenly(0, 4).is_empty());
    }
}
