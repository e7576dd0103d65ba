//! `Palette`: a color for each format of the second model, and the legend.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::number::Size;
use super::{clean, decibels, grouped, percent};
use crate::model::bits_per_weight;
use crate::model::compare::Row;

/// Number of colors in the style sheet; further formats share the last.
const COLORS: usize = 8;

/// Columns of the legend after the format's name.
const NUMBERS: [&str; 7] = ["tensors", "weights", "before", "after", "bits per weight", "relative RMSE", "SNR dB"];

/// Formats sorted by their total size, largest first.
pub(super) struct Palette(Vec<String>);

/// Totals of one format.
#[derive(Default)]
struct Total {
    tensors: u64,
    weights: u64,
    before: u64,
    after: u64,
    /// Sums of squared errors and squared values over all weights.
    noise: f64,
    signal: f64,
}

impl Palette {
    pub(super) fn of(rows: &[Row]) -> Self {
        let totals = totals(rows);
        let mut formats: Vec<&str> = totals.keys().copied().collect();
        formats.sort_by_key(|format| std::cmp::Reverse(totals[format].after));
        Self(formats.into_iter().map(str::to_owned).collect())
    }

    /// Returns the CSS class of a format.
    pub(super) fn class(&self, format: &str) -> String {
        let at = self.0.iter().position(|known| known == format).unwrap_or(COLORS);
        format!("f{}", at.min(COLORS - 1))
    }

    /// Renders the legend: totals of the second model per format.
    pub(super) fn section(&self, rows: &[Row]) -> Markup {
        let totals = totals(rows);
        html! {
            section {
                h2 { "Formats" }
                div class="scroll" {
                    table {
                        thead {
                            tr {
                                th { "format" }
                                @for name in NUMBERS { th class="n" { (name) } }
                            }
                        }
                        tbody { @for format in &self.0 { (self.row(format, &totals[format.as_str()])) } }
                    }
                }
            }
        }
    }

    fn row(&self, format: &str, total: &Total) -> Markup {
        let lost = if total.noise == 0.0 { 0.0 } else { (total.noise / total.signal).sqrt() };
        let snr = (lost > 0.0).then(|| -20.0 * lost.log10());
        html! {
            tr {
                td class="nowrap" { span class={ "dot " (self.class(format)) } {} (clean(format)) }
                td class="n" { (total.tensors) }
                td class="n" { (grouped(total.weights)) }
                td class="n" { (Size(total.before)) }
                td class="n" { (Size(total.after)) }
                td class="n" { (format!("{:.2}", bits_per_weight(total.after, total.weights))) }
                td class="n" { (percent(lost)) }
                td class="n" { (decibels(snr)) }
            }
        }
    }
}

fn totals(rows: &[Row]) -> BTreeMap<&str, Total> {
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    for row in rows {
        let total = totals.entry(&row.second).or_default();
        total.tensors += 1;
        total.weights += row.elements();
        total.before += row.first_bytes;
        total.after += row.second_bytes;
        #[expect(clippy::cast_precision_loss, reason = "a weight in a mean")]
        let weights = row.elements() as f64;
        let (rmse, relative) = (row.figures.rmse, row.figures.relative_rmse);
        total.noise += rmse * rmse * weights;
        // The squared values are derived from error and relative error, which is impossible for a tensor without error.
        if relative > 0.0 && relative.is_finite() {
            total.signal += (rmse / relative).powi(2) * weights;
        }
    }
    totals
}
