//! Top of the page: sizes, similarity, the worst tensor, and tensors that could not be compared.

use maud::{Markup, html};

use super::names::{breakable, clean};
use super::number::{Size, digits};
use super::{Report, decibels, grouped, percent};
use crate::model::bits_per_weight;
use crate::model::compare::{ModelComparison, Row};

pub(super) fn section(report: &Report<'_>) -> Markup {
    let Report { comparison, .. } = report;
    let overall = &comparison.overall;
    let changed = comparison.tensors.iter().filter(|row| !row.is_equal()).count();
    let weights = comparison.tensors.iter().map(Row::elements).sum();
    let bytes = comparison.tensors.iter().map(|row| row.second_bytes).sum();
    let (ratio, change) = comparison.size_change();
    let snr = if overall.snr_db.is_some() { format!("{} dB", decibels(overall.snr_db)) } else { "exact".to_owned() };
    let by_error = |a: &&Row, b: &&Row| a.figures.relative_rmse.total_cmp(&b.figures.relative_rmse);
    let worst = comparison.tensors.iter().filter(|row| !row.is_equal()).max_by(by_error);
    html! {
        header {
            h1 { (breakable(report.first)) " " span class="arrow" { "→" } " " (breakable(report.second)) }
            p {
                "Tensors compared: " (comparison.tensors.len()) ", with " (grouped(weights)) " values; changed: " (changed)
                "."
            }
        }
        section class="cards" {
            (card(&format!("{ratio:.2}×"), change, &html! {
                p { (Size(comparison.first_bytes)) " → " (Size(comparison.second_bytes)) }
                p { (format!("{:.2} bits per weight", bits_per_weight(bytes, weights))) }
            }))
            (card(&snr, "signal to noise", &html! {
                p { "relative RMSE " (percent(overall.relative_rmse)) }
                p { "RMSE " (digits(overall.rmse)) }
            }))
            (card(&format!("{:.6}", overall.cosine), "cosine", &html! {
                p { "largest error " (digits(overall.max_error)) }
                p { "over all compared weights" }
            }))
            @if let Some(worst) = worst {
                (card(&percent(worst.figures.relative_rmse), "worst tensor", &html! {
                    p { (breakable(&worst.name)) }
                    p { (clean(&worst.second)) (format!(", cosine {:.6}", worst.figures.cosine)) }
                }))
            } @else {
                (card("none", "worst tensor", &html! { p { "all values are equal" } }))
            }
        }
    }
}

/// Renders a figure with its name and explanatory lines.
fn card(figure: &str, name: &str, lines: &Markup) -> Markup {
    html! {
        div class="card" {
            h3 { (name) }
            p class="figure" { (figure) }
            (lines)
        }
    }
}

/// Lists tensors without figures, with the reasons.
pub(super) fn skipped_tensors(comparison: &ModelComparison) -> Markup {
    let skipped: Vec<String> = comparison.skipped.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
    warning(
        "Not compared",
        &[
            ("Incompatible", &skipped),
            ("Only in the first model", &comparison.only_in_first),
            ("Only in the second model", &comparison.only_in_second),
        ],
    )
}

/// Lists tensors with non-finite values. Those in the first model are excluded from the figures; those only in the
/// second make the figures infinite.
pub(super) fn not_finite(comparison: &ModelComparison) -> Markup {
    let with = |count: fn(&Row) -> u64| -> Vec<String> {
        let rows = comparison.tensors.iter().filter(|row| count(row) > 0);
        rows.map(|row| format!("{}: {}", row.name, grouped(count(row)))).collect()
    };
    warning(
        "NaN or infinite values",
        &[
            ("Only in the second model, infinite errors", &with(|row| row.figures.non_finite_in_second)),
            ("In the first model, excluded from the figures", &with(|row| row.figures.non_finite)),
        ],
    )
}

/// Renders lists under their titles, each expanded unless it is long; nothing if all are empty.
fn warning(title: &str, lists: &[(&str, &Vec<String>)]) -> Markup {
    html! {
        @if lists.iter().any(|(_, items)| !items.is_empty()) {
            section class="warn" {
                h2 { (title) }
                @for (title, items) in lists.iter().filter(|(_, items)| !items.is_empty()) {
                    details open[items.len() <= 8] {
                        summary { (title) ": " (items.len()) }
                        ul { @for item in *items { li { (clean(item)) } } }
                    }
                }
            }
        }
    }
}
