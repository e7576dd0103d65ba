//! A comparison as one HTML page that needs nothing else: styles, drawings and a little script are in it.
//!
//! The page can be kept, mailed and printed. It loads nothing, follows the reader's choice of light or dark, and is
//! complete without the script, which only sorts and filters.

mod bars;
mod headline;
mod histogram;
mod names;
pub mod number;
mod palette;
mod table;
mod trade_off;

use bitgrain_codec::weight::WeightFormat;
use maud::{DOCTYPE, PreEscaped, html};

use crate::model::compare::{ModelComparison, Row};
use crate::model::plan::PrecisionPlan;
use names::clean;
use palette::Palette;

/// What a page shows.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// What to call the first model.
    pub first: &'a str,
    /// What to call the second.
    pub second: &'a str,
    /// The two, compared.
    pub comparison: &'a ModelComparison,
    /// What other sizes would cost.
    pub curve: TradeOff<'a>,
}

/// The sizes that the first model could have, and the errors they allow.
#[derive(Debug, Clone, Copy)]
pub enum TradeOff<'a> {
    /// Measured.
    Measured {
        /// A plan for the first model.
        plan: &'a PrecisionPlan,
        /// The formats it chose from.
        candidates: &'a [WeightFormat],
    },
    /// Not measured, for this reason.
    Missing(&'a str),
}

/// The style sheet of the page, for other pages that look like it.
pub const STYLE: &str = include_str!("page.css");

/// Histograms that are open when the page is.
const WORST: usize = 8;

/// The page.
#[must_use]
pub fn html(report: &Report<'_>) -> String {
    let comparison = report.comparison;
    let palette = Palette::of(&comparison.tensors);
    let worst = worst_first(&comparison.tensors);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (clean(report.first)) " and " (clean(report.second)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (headline::section(report))
                    (headline::left_out(comparison))
                    (headline::not_finite(comparison))
                    (palette.section(&comparison.tensors))
                    (bars::section(&worst, &palette))
                    (trade_off::section(report))
                    (histogram::section(&worst, WORST))
                    (table::section(&comparison.tensors, &palette))
                }
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    }
    .into_string()
}

/// Rows by relative error, the largest first; among equals in the order of the file.
fn worst_first(rows: &[Row]) -> Vec<&Row> {
    let mut worst: Vec<&Row> = rows.iter().collect();
    worst.sort_by(|a, b| b.figures.relative_rmse.total_cmp(&a.figures.relative_rmse));
    worst
}

/// A relative error as a percentage.
fn percent(relative: f64) -> String {
    if relative == 0.0 { "0".to_owned() } else { format!("{} %", number::digits(100.0 * relative)) }
}

/// A ratio of signal to noise.
fn decibels(snr: Option<f64>) -> String {
    snr.map_or_else(|| "exact".to_owned(), |snr| format!("{snr:.1}"))
}

/// A count with a thin space between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// A shape as `384 × 1536`.
fn shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests;
