//! Partial dependence: the mean prediction when one or two features are set to each of several values.

use super::{ExplainError, PartialGrid};
use crate::feature::Features;
use crate::model::Model;
use crate::predict::Predictor;

/// Maximum number of features that are set at a time.
const MAX_FEATURES: usize = 2;

/// Settings of [`partial_dependence`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartialOptions {
    /// Choice of values if `values` is `None`.
    pub grid: PartialGrid,
    /// Values of each feature; NaN is a missing value. `None` derives them from the rows.
    pub values: Option<Vec<Vec<f64>>>,
    /// Whether to average raw scores instead of predictions.
    pub raw: bool,
    /// Whether to keep the prediction of each row.
    pub individual: bool,
}

/// Partial dependence of a model on one or two features.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialDependence {
    /// Indices of the features.
    pub features: Vec<usize>,
    /// Values that each feature was set to. A point is a combination of values; those of the last feature vary fastest.
    pub grids: Vec<Vec<f64>>,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of predictions per row.
    pub n_outputs: usize,
    /// Mean prediction per output and point, output-major.
    pub mean: Vec<f64>,
    /// Prediction per output, row and point, output-major: individual conditional expectations (ICE). Empty unless
    /// requested.
    pub individual: Vec<f64>,
}

impl PartialDependence {
    /// Number of points.
    #[must_use]
    pub fn n_points(&self) -> usize {
        self.grids.iter().map(Vec::len).product()
    }

    /// Subtracts the value at the first point from every curve, so that all start at 0.
    pub fn center(&mut self) {
        let n_points = self.n_points().max(1);
        for curve in self.mean.chunks_exact_mut(n_points).chain(self.individual.chunks_exact_mut(n_points)) {
            let first = curve[0];
            curve.iter_mut().for_each(|value| *value -= first);
        }
    }
}

/// Sets one or two features of all rows to each value of a grid, and predicts.
///
/// Needs memory for a copy of the features; the time is that of one prediction of all rows per point.
///
/// # Errors
/// Returns [`ExplainError::FeatureCount`] unless there are one or two distinct features, the errors of [`PartialGrid::of`],
/// [`ExplainError::Predict`] if rows do not match the model, or [`ExplainError::Memory`].
pub fn partial_dependence(
    model: &Model,
    features: &Features<'_>,
    of: &[usize],
    options: &PartialOptions,
) -> Result<PartialDependence, ExplainError> {
    let (n_rows, n_features) = (features.n_rows(), features.n_features());
    super::explainer::check_count(model, features)?;
    if of.is_empty() || of.len() > MAX_FEATURES || of.len() == 2 && of[0] == of[1] {
        return Err(ExplainError::FeatureCount);
    }
    let predictor = Predictor::new(model)?;
    let grids = grids(model, features, of, options)?;
    let n_outputs = predictor.n_outputs();
    let n_points: usize = grids.iter().map(Vec::len).product();
    let kept = if options.individual { n_rows } else { 0 };
    let mut individual = zeros(&[n_outputs, kept, n_points], n_rows)?;
    let mut columns = zeros(&[n_rows, n_features], n_rows)?;
    features.read_f64(0..n_features, 0..n_rows, &mut columns, n_rows);
    let mut mean = vec![0.0; n_outputs * n_points];
    for point in 0..n_points {
        for (&feature, value) in of.iter().zip(values_at(&grids, point)) {
            columns[feature * n_rows..][..n_rows].fill(value);
        }
        let rows = Features::column_major(&columns[..], n_rows, n_features)?;
        let predictions = if options.raw { predictor.raw(&rows)? } else { predictor.predict(&rows)? };
        for output in 0..n_outputs {
            let of_output = || predictions.iter().skip(output).step_by(n_outputs);
            #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
            let count = n_rows as f64;
            mean[output * n_points + point] = of_output().sum::<f64>() / count;
            let curves = individual.get_mut(output * kept * n_points..).unwrap_or_default();
            let places = curves.iter_mut().skip(point).step_by(n_points);
            places.zip(of_output().take(kept)).for_each(|(place, &value)| *place = value);
        }
    }
    Ok(PartialDependence { features: of.to_vec(), grids, n_rows, n_outputs, mean, individual })
}

fn grids(
    model: &Model,
    features: &Features<'_>,
    of: &[usize],
    options: &PartialOptions,
) -> Result<Vec<Vec<f64>>, ExplainError> {
    if let Some(&feature) = of.iter().find(|&&feature| feature >= model.n_inputs()) {
        return Err(ExplainError::Feature { feature, features: model.n_inputs() });
    }
    let Some(given) = &options.values else {
        return of.iter().map(|&feature| options.grid.of(model, features, feature)).collect();
    };
    let too_long = given.iter().map(Vec::len).find(|len| !(1..=PartialGrid::MAX_SIZE).contains(len));
    if given.len() != of.len() || too_long.is_some() {
        return Err(ExplainError::GridSize { size: too_long.unwrap_or(0), most: PartialGrid::MAX_SIZE });
    }
    Ok(given.clone())
}

/// Returns the value of each feature at a point.
fn values_at(grids: &[Vec<f64>], point: usize) -> impl Iterator<Item = f64> + '_ {
    let place = move |at: usize| {
        let below: usize = grids[at + 1..].iter().map(Vec::len).product();
        grids[at][point / below % grids[at].len()]
    };
    (0..grids.len()).map(place)
}

/// Allocates an array of zeros, or returns an error if it does not fit into memory.
fn zeros(shape: &[usize], rows: usize) -> Result<Vec<f64>, ExplainError> {
    let total = shape.iter().try_fold(1_usize, |total, &count| total.checked_mul(count));
    let too_large = || ExplainError::Memory { rows, values: total.unwrap_or(usize::MAX) / rows.max(1) };
    let mut values = Vec::new();
    let total = total.ok_or_else(too_large)?;
    values.try_reserve_exact(total).map_err(|_| too_large())?;
    values.resize(total, 0.0);
    Ok(values)
}
