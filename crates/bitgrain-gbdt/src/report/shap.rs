//! SHAP values of a sample of the rows: their mean magnitude, direction and distribution.

use maud::{Markup, html};

use super::beeswarm;
use super::number::{clean, float, grouped, short};
use super::rows::Rows;
use crate::explain::Explainer;
use crate::feature::Features;
use crate::model::{InputKind, Model};

/// Maximum number of explained rows, and of values, for models with many features and classes.
const MAX_ROWS: usize = 2000;
const MAX_VALUES: usize = 10_000_000;

/// Number of features with a distribution.
pub(super) const SHOWN: usize = 12;

/// Maximum number of classes with their own color.
const COLORS: usize = 8;

/// SHAP values of a sample.
pub(super) struct Shap {
    /// Values per row, output and feature, with the expected score after the features.
    values: Vec<f64>,
    /// Explained rows of the sample.
    pub(super) chosen: Vec<usize>,
    n_features: usize,
    n_outputs: usize,
    /// Mean absolute value per feature, summed over the outputs.
    pub(super) means: Vec<f64>,
    /// Rank correlation of value and contribution per feature; `None` for categories and several outputs.
    pub(super) directions: Vec<Option<f64>>,
    /// Reason why there are no values.
    problem: Option<String>,
}

impl Shap {
    pub(super) fn new(model: &Model, rows: &Rows) -> Self {
        let (n_features, n_outputs) = (model.n_inputs(), model.n_outputs());
        let most = MAX_ROWS.min((MAX_VALUES / ((n_features + 1) * n_outputs).max(1)).max(50));
        let (columns, chosen) = rows.fewer(most);
        let explained = Explainer::new(model).and_then(|explainer| {
            explainer.contributions(&Features::column_major(&columns[..], chosen.len(), n_features)?)
        });
        let (values, problem) = match explained {
            Ok(values) => (values, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mut shap = Self { values, chosen, n_features, n_outputs, means: vec![], directions: vec![], problem };
        shap.means =
            (0..n_features).map(|feature| (0..n_outputs).map(|output| shap.mean(output, feature)).sum()).collect();
        let direction = |feature: usize| {
            let numeric = model.inputs[feature].kind == InputKind::Numeric && n_outputs == 1 && shap.problem.is_none();
            let values: Vec<f64> = shap.chosen.iter().map(|&row| rows.column(feature)[row]).collect();
            numeric.then(|| rank_correlation(&values, &shap.column(0, feature).collect::<Vec<_>>())).flatten()
        };
        shap.directions = (0..n_features).map(direction).collect();
        shap
    }

    /// Contributions of a feature to an output.
    pub(super) fn column(&self, output: usize, feature: usize) -> impl Iterator<Item = f64> + '_ {
        let per_row = (self.n_features + 1) * self.n_outputs;
        self.values.iter().skip(output * (self.n_features + 1) + feature).step_by(per_row.max(1)).copied()
    }

    /// Mean absolute contribution of a feature to an output.
    fn mean(&self, output: usize, feature: usize) -> f64 {
        self.column(output, feature).map(f64::abs).sum::<f64>() / float(self.chosen.len().max(1))
    }

    /// Features with contributions, largest first.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.n_features).filter(|&feature| self.means[feature] > 0.0).collect();
        order.sort_by(|&a, &b| self.means[b].total_cmp(&self.means[a]));
        order
    }
}

pub(super) fn section(model: &Model, shap: &Shap, rows: &Rows) -> Markup {
    let order = shap.order();
    let shown = &order[..order.len().min(SHOWN)];
    html! {
        section {
            h2 { "SHAP values" }
            @if let Some(problem) = &shap.problem {
                p class="note" { "Not available: " (clean(problem)) "." }
            } @else if order.is_empty() {
                p class="note" { "No feature contributes to the predictions." }
            } @else {
                p class="note" {
                    "Contribution of each feature to the raw score of " (grouped(shap.chosen.len())) " rows, for the "
                    (shown.len()) " features with the largest mean magnitude. "
                    @if model.n_outputs() == 1 { "Each point is a row; its color is the value of the feature." }
                    @else { "Mean magnitude per class." }
                }
                @if model.n_outputs() == 1 { (beeswarm::drawing(model, shap, rows, shown)) } @else { (by_class(model, shap, shown)) }
            }
        }
    }
}

/// Renders the mean magnitude of each feature as stacked bars, one color per class.
fn by_class(model: &Model, shap: &Shap, shown: &[usize]) -> Markup {
    let most = shown.iter().map(|&feature| shap.means[feature]).fold(f64::MIN_POSITIVE, f64::max);
    let colored = shap.n_outputs.min(COLORS);
    let width = |value: f64| format!("width:{:.2}%", 100.0 * value / most);
    html! {
        p class="legend" {
            @for class in 0..colored { span { i class={ "key f" (class) } {} (clean(&model.output.class_label(class))) } }
            @if shap.n_outputs > colored { span { i class="key gray" {} "other classes" } }
        }
        div class="bars" {
            @for &feature in shown {
                div class="bar" {
                    span class="name" { (clean(&model.inputs[feature].name)) }
                    span class="track stack" aria-hidden="true" {
                        @for class in 0..colored { b class={ "f" (class) } style=(width(shap.mean(class, feature))) {} }
                        @let rest: f64 = (colored..shap.n_outputs).map(|class| shap.mean(class, feature)).sum();
                        @if rest > 0.0 { b class="gray" style=(width(rest)) {} }
                    }
                    span class="value" { (short(shap.means[feature])) }
                }
            }
        }
    }
}

/// Returns the rank correlation of the pairs without missing values; `None` if one side is constant.
fn rank_correlation(values: &[f64], contributions: &[f64]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> =
        values.iter().copied().zip(contributions.iter().copied()).filter(|pair| !pair.0.is_nan()).collect();
    let ranks = |pick: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|&a, &b| pick(&pairs[a]).total_cmp(&pick(&pairs[b])));
        let (mut ranks, mut at) = (vec![0.0; pairs.len()], 0);
        for tied in order.chunk_by(|&a, &b| pick(&pairs[a]) == pick(&pairs[b])) {
            let middle = float(at) + float(tied.len() - 1) / 2.0;
            tied.iter().for_each(|&row| ranks[row] = middle);
            at += tied.len();
        }
        ranks
    };
    let (x, y) = (ranks(|pair| pair.0), ranks(|pair| pair.1));
    // The mean rank is the same for both.
    let mean = float(pairs.len().saturating_sub(1)) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let scale = (product(&x, &x) * product(&y, &y)).sqrt();
    (scale > 0.0).then(|| product(&x, &y) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_ignores_the_scale_and_missing_values() {
        let values = [1.0, 2.0, f64::NAN, 300.0, 4.0];
        assert_eq!(rank_correlation(&values, &[0.1, 0.2, 9.0, 0.9, 0.3]), Some(1.0));
        assert_eq!(rank_correlation(&values, &[0.9, 0.3, -9.0, 0.1, 0.2]), Some(-1.0));
        assert_eq!(rank_correlation(&[1.0, 1.0], &[0.1, 0.2]), None);
        assert_eq!(rank_correlation(&[f64::NAN], &[0.1]), None);
    }
}
