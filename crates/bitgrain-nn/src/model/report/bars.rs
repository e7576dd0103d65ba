//! Error per tensor as bars, with marks for the theoretical limits.

use maud::{Markup, html};

use super::names::{breakable, clean};
use super::{Palette, percent};
use crate::model::compare::Row;

/// Number of bars shown at once; the others are collapsed.
const OPEN: usize = 40;

pub(super) fn section(worst: &[&Row], palette: &Palette) -> Markup {
    let changed: Vec<&Row> = worst.iter().copied().filter(|row| !row.is_equal()).collect();
    let equal = worst.len() - changed.len();
    let ends = changed.iter().flat_map(|row| [row.figures.relative_rmse, relative(row.optimum_db)]);
    let scale = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    let (open, rest) = changed.split_at(changed.len().min(OPEN));
    html! {
        section {
            h2 { "Error per tensor" }
            @if changed.is_empty() {
                p { "All tensors are equal." }
            } @else {
                p class="note" {
                    "Relative RMS error, largest first, colored by format. "
                    span class="key optimum" {}
                    " optimal quantizer with the same number of levels and one scale, on normally distributed weights; \
                     per-block scales can beat it. "
                    span class="key limit" {}
                    " Shannon's bound for the same number of bits."
                }
                div class="bars" { @for row in open { (bar(row, scale, palette)) } }
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more, with smaller errors" }
                        div class="bars" { @for row in rest { (bar(row, scale, palette)) } }
                    }
                }
                @if equal > 0 {
                    p class="note" { (equal) " tensors are equal in both models and have no bar." }
                }
            }
        }
    }
}

fn bar(row: &Row, scale: f64, palette: &Palette) -> Markup {
    let lost = row.figures.relative_rmse;
    let name = clean(&row.name);
    let place = |error: f64| if error.is_finite() { 100.0 * (error / scale).min(1.0) } else { 100.0 };
    let left = |error: f64| format!("left:{:.2}%", place(error));
    html! {
        div class="bar" data-name=(name) {
            span class="name" title=(name) { (breakable(&row.name)) }
            span class="track" {
                b class=(palette.class(&row.second)) style=(format!("width:{:.2}%", place(lost))) {}
                @if row.optimum_db.is_some() {
                    i class="optimum" style=(left(relative(row.optimum_db))) {}
                    i class="limit" style=(left(relative(Some(row.limit_db)))) {}
                }
            }
            span class="value" { (percent(lost)) }
        }
    }
}

/// Converts a signal-to-noise ratio in dB to a relative RMS error; `None` to 0.
fn relative(db: Option<f64>) -> f64 {
    db.map_or(0.0, |db| 10.0_f64.powf(-db / 20.0))
}
