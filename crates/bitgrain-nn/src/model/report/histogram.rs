//! Histograms of values before and after, one drawing per tensor.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::names::{breakable, clean};
use super::number::ends;
use super::{decibels, percent, shape};
use crate::model::compare::Row;

/// Size of a drawing in SVG units; the page scales it.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 80.0;

/// Renders the `open` worst tensors side by side and collapses the others.
pub(super) fn section(worst: &[&Row], open: usize) -> Markup {
    let changed = worst.iter().filter(|row| !row.is_equal()).count();
    let (shown, rest) = worst.split_at(changed.min(open));
    html! {
        section {
            h2 { "Values before and after" }
            p class="note" {
                "Distribution of the weights, on a logarithmic scale so that outliers are visible: "
                span class="key before" {} " before, " span class="key after" {} " after. Worst tensors first."
            }
            div class="small" {
                @for row in shown {
                    figure data-name=(clean(&row.name)) {
                        figcaption title=(clean(&row.name)) { (breakable(&row.name)) }
                        (drawing(row))
                    }
                }
            }
            @if !rest.is_empty() {
                details {
                    summary { (rest.len()) " more tensors" }
                    div class="each" {
                        @for row in rest {
                            details data-name=(clean(&row.name)) {
                                summary {
                                    (breakable(&row.name)) " "
                                    span class="dim" { (percent(row.figures.relative_rmse)) }
                                }
                                (drawing(row))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the two histograms on top of each other, with the range and the figures below.
fn drawing(row: &Row) -> Markup {
    let [before, after] = &row.histograms;
    let most = before.iter().chain(after).copied().max().unwrap_or(0);
    let (lo, hi) = ends(row.range.0, row.range.1);
    let snr = row.figures.snr_db.map_or_else(|| "exact".to_owned(), |snr| format!("{} dB", decibels(Some(snr))));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img"
            aria-label="values before and after"
        {
            path class="before" d=(steps(before, most, true)) {}
            path class="after" d=(steps(after, most, false)) {}
        }
        p class="axis" { span { (lo) } span { (hi) } }
        p class="dim" { (shape(&row.shape)) ", " (clean(&row.first)) " → " (clean(&row.second)) ", " (snr) }
    }
}

/// Returns the SVG path along the tops of the bars, closed along the bottom if it is to be filled.
#[expect(clippy::cast_precision_loss, reason = "counts become coordinates")]
fn steps(bars: &[u64], most: u64, closed: bool) -> String {
    let height = |count: u64| HEIGHT - (HEIGHT - 4.0) * ((1 + count) as f64).ln() / ((1 + most.max(1)) as f64).ln();
    let width = WIDTH / bars.len().max(1) as f64;
    let mut path = if closed { format!("M0 {HEIGHT}") } else { String::new() };
    for (i, count) in bars.iter().enumerate() {
        let (left, right, y) = (i as f64 * width, (i + 1) as f64 * width, height(*count));
        let go = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{go}{left:.1} {y:.1}H{right:.1}");
    }
    if closed {
        let _ = write!(path, "V{HEIGHT}Z");
    }
    path
}
