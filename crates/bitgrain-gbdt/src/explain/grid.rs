//! `PartialGrid`: values that partial dependence sets a feature to.

use super::ExplainError;
use crate::feature::Features;
use crate::model::{InputKind, Model};

/// Choice of grid values.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialGrid {
    /// Maximum number of values per feature.
    pub size: usize,
    /// Shares of the rows below the first and the last value, from 0 to 1, for numeric features with more than `size`
    /// distinct values.
    pub percentiles: (f64, f64),
}

impl Default for PartialGrid {
    /// 50 values between the 5th and the 95th percentile.
    fn default() -> Self {
        Self { size: 50, percentiles: (0.05, 0.95) }
    }
}

impl PartialGrid {
    /// Maximum [`size`](Self::size); two features have a grid of at most its square.
    pub const MAX_SIZE: usize = 1000;

    /// Returns the grid of a feature, ascending: all distinct values if there are at most `size` of them, otherwise the
    /// quantiles at evenly spaced ranks between the percentiles. Of more than `size` categories, the most frequent are
    /// taken. Missing values are left out.
    ///
    /// ```
    /// # use bitgrain_gbdt::model::*;
    /// use bitgrain_gbdt::explain::PartialGrid;
    /// use bitgrain_gbdt::feature::Features;
    /// # let model = Model {
    /// #     inputs: vec![Input { name: "age".into(), kind: InputKind::Numeric }],
    /// #     comparison: Comparison::F32,
    /// #     output: Output { objective: "squared".into(), link: Link::Identity, base_scores: vec![0.0],
    /// #         classes: vec![], average: false },
    /// #     trees: vec![],
    /// #     metadata: Default::default(),
    /// # };
    /// let ages: Vec<f64> = (0..=100).map(f64::from).collect();
    /// let ages = Features::column_major(&ages[..], 101, 1)?;
    /// let grid = PartialGrid { size: 3, percentiles: (0.1, 0.9) };
    /// assert_eq!(grid.of(&model, &ages, 0)?, [10.0, 50.0, 90.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ExplainError::GridSize`], [`ExplainError::Percentiles`], [`ExplainError::Feature`], or
    /// [`ExplainError::NoValues`] if all values are missing.
    pub fn of(&self, model: &Model, features: &Features<'_>, feature: usize) -> Result<Vec<f64>, ExplainError> {
        self.check()?;
        let (count, n_rows) = (model.n_inputs().min(features.n_features()), features.n_rows());
        if feature >= count {
            return Err(ExplainError::Feature { feature, features: count });
        }
        let mut values = vec![0.0; n_rows];
        features.read_f64(feature..feature + 1, 0..n_rows, &mut values, n_rows);
        let input = &model.inputs[feature];
        let is_category = matches!(input.kind, InputKind::Categorical { .. });
        if is_category {
            // Unknown categories are missing values. Numbers are not rounded: the grid shows values of the table.
            values.iter_mut().for_each(|value| *value = input.normalize(*value, model.comparison));
        }
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        let runs: Vec<&[f64]> = values.chunk_by(|a, b| a == b).collect();
        if runs.is_empty() {
            return Err(ExplainError::NoValues { name: input.name.clone() });
        }
        if runs.len() <= self.size {
            return Ok(runs.iter().map(|run| run[0]).collect());
        }
        if is_category {
            let mut frequent = runs;
            // The sort is stable: of equally frequent categories, those with smaller codes are taken.
            frequent.sort_by_key(|run| std::cmp::Reverse(run.len()));
            let mut codes: Vec<f64> = frequent.iter().take(self.size).map(|run| run[0]).collect();
            codes.sort_unstable_by(f64::total_cmp);
            return Ok(codes);
        }
        let mut grid: Vec<f64> = self.shares().map(|share| quantile(&values, share)).collect();
        grid.dedup();
        Ok(grid)
    }

    /// Shares of the rows below each value.
    #[expect(clippy::cast_precision_loss, reason = "grids have at most a thousand values")]
    fn shares(&self) -> impl Iterator<Item = f64> {
        let ((from, to), steps) = (self.percentiles, self.size.saturating_sub(1).max(1) as f64);
        (0..self.size).map(move |at| (from + (to - from) * at as f64 / steps).min(to))
    }

    fn check(&self) -> Result<(), ExplainError> {
        if !(1..=Self::MAX_SIZE).contains(&self.size) {
            return Err(ExplainError::GridSize { size: self.size, most: Self::MAX_SIZE });
        }
        let (from, to) = self.percentiles;
        if 0.0 <= from && from < to && to <= 1.0 {
            return Ok(());
        }
        Err(ExplainError::Percentiles { from, to })
    }
}

/// Returns the index of a feature by name.
///
/// # Errors
/// Returns [`ExplainError::UnknownFeature`].
pub fn feature_index(model: &Model, name: &str) -> Result<usize, ExplainError> {
    let known = || model.inputs.iter().map(|input| input.name.clone()).collect();
    let found = model.inputs.iter().position(|input| input.name == name);
    found.ok_or_else(|| ExplainError::UnknownFeature { name: name.to_owned(), known: known() })
}

/// Returns the value below which a share of the ascending values lies, interpolated between neighbors as NumPy does.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are below the number of rows"
)]
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let rank = share.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (rank.floor() as usize, rank.fract());
    let (low, high) = (sorted[below.min(last)], sorted[(below + 1).min(last)]);
    // Equal neighbors may be infinite, whose difference is NaN.
    if low == high || part == 0.0 { low } else { low + (high - low) * part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated_between_neighbors() {
        let values = [1.0, 2.0, 4.0, f64::INFINITY, f64::INFINITY];
        let found = [0.0, 0.125, 0.25, 0.375, 0.75, 0.9, 1.0].map(|share| quantile(&values, share));
        assert_eq!(found, [1.0, 1.5, 2.0, 3.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(quantile(&[7.0], 0.3), 7.0);
    }
}
