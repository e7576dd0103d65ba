//! Importance of the features: gain, number of splits, mean magnitude of SHAP values.

use maud::{Markup, html};

use super::number::{clean, percent};
use super::shap::Shap;
use crate::model::{Importance, Model};

/// Number of features shown at once; the others are collapsed.
const OPEN: usize = 20;

/// Maximum number of features in the list.
const MOST: usize = 300;

pub(super) fn section(model: &Model, shap: &Shap) -> Markup {
    let shares = [
        share(model.feature_importance(Importance::Gain)),
        share(model.feature_importance(Importance::Split)),
        share(shap.means.clone()),
    ];
    // By SHAP values if there are any, otherwise by gain.
    let main = if shares[2].iter().any(|share| *share > 0.0) { 2 } else { 0 };
    let mut order: Vec<usize> = (0..model.n_inputs()).collect();
    order.sort_by(|&a, &b| shares[main][b].total_cmp(&shares[main][a]));
    let used = order.iter().filter(|&&feature| shares[1][feature] > 0.0).count();
    let unused = order.len() - used;
    order.truncate(used.min(MOST));
    let (open, rest) = order.split_at(order.len().min(OPEN));
    html! {
        section {
            h2 { "Feature importance" }
            @if order.is_empty() {
                p class="note" { "No tree splits on any feature." }
            } @else {
                p class="note" {
                    "Share of the total: mean magnitude of SHAP values, gain of the splits, and number of splits."
                    @if model.n_outputs() == 1 {
                        " The direction is that of higher values: ↑ raises the score, ↓ lowers it, ↕ does both or neither, – does \
                         not apply."
                    }
                }
                (table(model, shap, &shares, open))
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more features" }
                        (table(model, shap, &shares, rest))
                    }
                }
            }
            @if used > MOST { p class="note" { (used - MOST) " features with smaller importance are left out." } }
            @if unused > 0 { p class="note" { (unused) " features are not used by any tree." } }
        }
    }
}

/// Divides by the sum.
fn share(values: Vec<f64>) -> Vec<f64> {
    let total: f64 = values.iter().sum();
    values.into_iter().map(|value| if total > 0.0 { value / total } else { 0.0 }).collect()
}

fn table(model: &Model, shap: &Shap, shares: &[Vec<f64>; 3], features: &[usize]) -> Markup {
    let most = |shares: &[f64]| shares.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
    html! {
        div class="scroll" tabindex="0" {
            table class="importance" {
                thead {
                    tr {
                        th scope="col" { "feature" }
                        @if model.n_outputs() == 1 { th scope="col" { "direction" } }
                        @for name in ["SHAP", "gain", "splits"] { th scope="col" { (name) } }
                    }
                }
                tbody {
                    @for &feature in features {
                        tr {
                            th scope="row" { (clean(&model.inputs[feature].name)) }
                            @if model.n_outputs() == 1 { td { (arrow(shap.directions[feature])) } }
                            @for (kind, class) in [(2, "f0"), (0, "f1"), (1, "f2")] {
                                @let value = shares[kind][feature];
                                td {
                                    span class="inline" {
                                        span class="track" aria-hidden="true" {
                                            b class=(class) style=(format!("width:{:.1}%", 100.0 * value / most(&shares[kind]))) {}
                                        }
                                        span class="value" { (percent(value)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Describes a rank correlation.
fn arrow(direction: Option<f64>) -> Markup {
    let (sign, label) = match direction {
        Some(direction) if direction > 0.5 => ("↑", "higher values raise the score"),
        Some(direction) if direction < -0.5 => ("↓", "higher values lower the score"),
        Some(_) => ("↕", "no clear direction"),
        None => ("–", "does not apply"),
    };
    html! { span role="img" aria-label=(label) title=(label) { (sign) } }
}
