//! Several classes: confusion matrix, precision and recall, one-vs-rest ROC curves, calibration of the confidence.

use maud::{Markup, html};

use super::binary::{Case, calibration, roc};
use super::number::{percent, short};
use super::quality::Evaluated;

/// Maximum number of classes in the matrix; the most frequent ones are shown.
const MAX_CLASSES: usize = 20;

/// Classes of the colors of ROC curves.
const COLORS: [&str; 8] = ["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"];

pub(super) fn charts(evaluated: &Evaluated<'_>) -> Markup {
    let (rows, n_classes) = (evaluated.rows, evaluated.model.n_outputs());
    let score = |class: usize, row: usize| evaluated.predictions[class * rows.n_rows + row];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "class indices were checked")]
    let actual: Vec<usize> = rows.targets.iter().map(|&target| target as usize).collect();
    let best = |row: usize| {
        (1..n_classes).fold(0, |best, class| if score(class, row) > score(best, row) { class } else { best })
    };
    let (mut counts, mut totals) = (vec![0.0; n_classes * n_classes], vec![0.0; n_classes]);
    let mut confidence = Vec::with_capacity(rows.n_rows);
    for (row, &class) in actual.iter().enumerate() {
        let (predicted, weight) = (best(row), rows.weight(row));
        counts[class * n_classes + predicted] += weight;
        totals[class] += weight;
        confidence.push(Case { score: score(predicted, row), positive: predicted == class, weight });
    }
    let mut frequent: Vec<usize> = (0..n_classes).collect();
    frequent.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]));
    let of_class = |class: usize| -> Vec<Case> {
        let case =
            |row: usize| Case { score: score(class, row), positive: actual[row] == class, weight: rows.weight(row) };
        (0..rows.n_rows).map(case).collect()
    };
    let curves: Vec<_> =
        frequent.iter().take(COLORS.len()).map(|&class| (evaluated.label(class), of_class(class))).collect();
    let drawn: Vec<_> =
        curves.iter().zip(COLORS).map(|((name, cases), color)| (color, name.clone(), &cases[..])).collect();
    let mut shown: Vec<usize> = frequent.iter().take(MAX_CLASSES).copied().collect();
    shown.sort_unstable();
    let labels: Vec<String> = shown.iter().map(|&class| evaluated.label(class)).collect();
    let chosen: Vec<f64> = shown
        .iter()
        .flat_map(|&row| shown.iter().map(move |&column| (row, column)))
        .map(|(row, column)| counts[row * n_classes + column])
        .collect();
    let all: Vec<String> = (0..n_classes).map(|class| evaluated.label(class)).collect();
    html! {
        h3 { "Confusion matrix" }
        p class="note" {
            "Rows are actual classes, columns are predicted classes; shades are shares of the actual class."
            @if n_classes > MAX_CLASSES { " The " (MAX_CLASSES) " most frequent of " (n_classes) " classes are shown." }
        }
        (matrix(&labels, &chosen))
        details open[n_classes <= MAX_CLASSES] {
            summary { "Precision and recall of each class" }
            (scores(&all, &counts))
        }
        div class="charts" {
            (roc(&drawn))
            (calibration(&confidence, "share of correct predictions"))
        }
        p class="note" {
            "ROC curves are one class against the others"
            @if n_classes > COLORS.len() { ", for the " (COLORS.len()) " most frequent classes" }
            "; calibration is that of the most probable class."
        }
    }
}

/// Renders a confusion matrix: rows are actual classes.
pub(super) fn matrix(labels: &[String], counts: &[f64]) -> Markup {
    let n = labels.len();
    html! {
        div class="scroll" tabindex="0" {
            table class="matrix" {
                thead { tr { th scope="col" { "actual" } @for label in labels { th class="n" scope="col" { (label) } } } }
                tbody {
                    @for (row, label) in labels.iter().enumerate() {
                        @let total: f64 = counts[row * n..][..n].iter().sum();
                        tr {
                            th scope="row" { (label) }
                            @for column in 0..n {
                                @let (count, share) = (counts[row * n + column], counts[row * n + column] / f64::max(total, f64::MIN_POSITIVE));
                                td class={ "n " (if row == column { "right" } else { "wrong" }) } style=(format!("--share:{:.0}%", 70.0 * share)) {
                                    (short(count)) span class="dim" { " " (percent(share)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders precision, recall and F1 of each class.
pub(super) fn scores(labels: &[String], counts: &[f64]) -> Markup {
    let n = labels.len();
    let sum = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>();
    html! {
        div class="scroll" tabindex="0" {
            table {
                thead { tr { th scope="col" { "class" } @for name in ["rows", "precision", "recall", "F1"] { th class="n" scope="col" { (name) } } } }
                tbody {
                    @for (class, label) in labels.iter().enumerate() {
                        @let hits = counts[class * n + class];
                        @let actual = sum(&mut (0..n).map(|other| counts[class * n + other]));
                        @let predicted = sum(&mut (0..n).map(|other| counts[other * n + class]));
                        tr {
                            th scope="row" { (label) }
                            td class="n" { (short(actual)) }
                            td class="n" { (rate(hits / predicted)) }
                            td class="n" { (rate(hits / actual)) }
                            td class="n" { (rate(2.0 * hits / (actual + predicted))) }
                        }
                    }
                }
            }
        }
    }
}

fn rate(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() }
}
