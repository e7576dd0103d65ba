//! Error per tensor: a bar each, with marks where theory stands.

use maud::{Markup, html};

use super::names::{breakable, clean};
use super::{Palette, percent};
use crate::model::compare::Row;

/// Bars that are shown at once; the others wait behind a click.
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
                p { "No tensor lost anything." }
            } @else {
                p class="note" {
                    "Relative RMS error, the largest first; colours are those of the formats above. "
                    span class="key optimum" {}
                    " best quantizer with as many levels and one scale, on normally distributed weights: scales for small \
                     blocks can pass it. "
                    span class="key limit" {}
                    " Shannon's bound at as many bits."
                }
                div class="bars" { @for row in open { (bar(row, scale, palette)) } }
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more, with smaller errors" }
                        div class="bars" { @for row in rest { (bar(row, scale, palette)) } }
                    }
                }
                @if equal > 0 {
                    p class="note" { (equal) " tensors are exactly the same in both and have no bar." }
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

/// A ratio of signal to noise as relative RMS error; none is no error.
fn relative(db: Option<f64>) -> f64 {
    db.map_or(0.0, |db| 10.0_f64.powf(-db / 20.0))
}
