//! Top of the page: the model, the data and the most important figures.

use maud::{Markup, html};

use super::number::{clean, figure, grouped};
use super::quality::Evaluated;
use super::rows::Rows;
use super::{Curve, TrainingReport};

pub(super) fn section(
    report: &TrainingReport<'_>,
    train: &Rows,
    valid: Option<&Rows>,
    evaluated: &Evaluated<'_>,
) -> Markup {
    let model = report.model;
    let leaves: usize = model.trees.iter().map(|tree| tree.leaves.len()).sum();
    let on = if valid.is_some() { "validation" } else { "training" };
    html! {
        header {
            h1 { (clean(report.title)) }
            p { "Training report of a gradient-boosting model with objective " code { (clean(&model.output.objective)) } "." }
        }
        section class="cards" aria-label="Key figures" {
            @for (name, value) in evaluated.figures() {
                (card(&figure(*value), name, &html! { p { "on the " (on) " data" } }))
            }
            @if evaluated.figures().is_empty() {
                @for (curve, value) in last_values(report) {
                    (card(&figure(value), &curve.metric, &html! { p { "on the " (clean(spelled(&curve.data))) " data" } }))
                }
            }
            (card(&grouped(model.n_rounds()), "rounds", &html! {
                p { (grouped(model.trees.len())) " trees, " (grouped(leaves)) " leaves" }
                @if let Some(best) = report.best_round { p { "best round " (grouped(best + 1)) } }
            }))
            (card(&grouped(train.total), "training rows", &html! {
                p { (grouped(model.n_inputs())) " features" }
                p { @match valid {
                    Some(valid) => { (grouped(valid.total)) " validation rows" },
                    None => "no validation rows",
                } }
            }))
        }
        @if valid.is_none() {
            p class="note warn" {
                "Without validation data, the figures below are measured on the training rows and are too optimistic."
            }
        }
        @for (rows, name) in [Some((train, "training")), valid.map(|valid| (valid, "validation"))].into_iter().flatten() {
            @if rows.is_sampled() {
                p class="note" {
                    "Figures and charts of the " (name) " data are computed from a sample of " (grouped(rows.n_rows))
                    " of its " (grouped(rows.total)) " rows, evenly spaced."
                }
            }
        }
    }
}

/// Spells out the short names that learning curves have by default.
fn spelled(data: &str) -> &str {
    match data {
        "train" => "training",
        "valid" => "validation",
        named => named,
    }
}

/// Returns the metrics of the model in the learning curves, on held-out data if there is any: rankings have no others,
/// because their metrics need queries.
fn last_values<'a>(report: &TrainingReport<'a>) -> Vec<(&'a Curve, f64)> {
    let is_held_out = |curve: &&Curve| curve.data != "train";
    let Some(shown) = report.curves.iter().find(is_held_out).or(report.curves.first()) else { return Vec::new() };
    let curves = report.curves.iter().filter(|curve| curve.data == shown.data);
    // Rounds after the best one are not part of the model.
    let value = |curve: &'a Curve| {
        let last = curve.values.len().min(report.model.n_rounds()).checked_sub(1)?;
        Some((curve, curve.values[last]))
    };
    curves.filter_map(value).filter(|(_, value)| value.is_finite()).collect()
}

/// Renders a figure with its name and explanatory lines.
fn card(figure: &str, name: &str, lines: &Markup) -> Markup {
    html! {
        div class="card" {
            h2 { (name) }
            p class="figure" { (figure) }
            (lines)
        }
    }
}
