//! A comparison as a self-contained HTML page, with its styles, drawings and script inline.
//!
//! The page can be archived, mailed and printed. It loads no external resources, follows the reader's light or dark
//! color scheme, and is complete without the script, which only sorts and filters.

mod bars;
mod headline;
mod histogram;
mod names;
pub mod number;
mod palette;
mod predictions;
mod table;
mod trade_off;

use bitgrain_codec::weight::WeightFormat;
use maud::{DOCTYPE, PreEscaped, html};

use crate::model::compare::{ModelComparison, Row};
use crate::model::plan::PrecisionPlan;
use names::clean;
use palette::Palette;

/// Content of a page.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Display name of the first model.
    pub first: &'a str,
    /// Display name of the second model.
    pub second: &'a str,
    /// Comparison of the two models.
    pub comparison: &'a ModelComparison,
    /// Trade-off between size and error for the first model.
    pub curve: TradeOff<'a>,
    /// Measures of the second model's predictions on a text, each with its value and standard error; none for models that
    /// were not run.
    pub predictions: &'a [[String; 3]],
}

/// Sizes that the first model could have, and the errors they allow.
#[derive(Debug, Clone, Copy)]
pub enum TradeOff<'a> {
    /// Measured trade-off.
    Measured {
        /// A plan for the first model.
        plan: &'a PrecisionPlan,
        /// Formats that the plan chose from.
        candidates: &'a [WeightFormat],
    },
    /// Not measured, with the reason.
    Missing(&'a str),
}

/// Style sheet of the page, for other pages of the same look.
pub const STYLE: &str = include_str!("page.css");

/// Number of histograms that are expanded initially.
const WORST: usize = 8;

/// Renders the page.
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
                    (headline::skipped_tensors(comparison))
                    (headline::not_finite(comparison))
                    (predictions::section(report.predictions))
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

/// Sorts rows by relative error, largest first; ties stay in file order.
fn worst_first(rows: &[Row]) -> Vec<&Row> {
    let mut worst: Vec<&Row> = rows.iter().collect();
    worst.sort_by(|a, b| b.figures.relative_rmse.total_cmp(&a.figures.relative_rmse));
    worst
}

/// Formats a relative error as a percentage.
fn percent(relative: f64) -> String {
    if relative == 0.0 { "0".to_owned() } else { format!("{} %", number::digits(100.0 * relative)) }
}

/// Formats a signal-to-noise ratio.
fn decibels(snr: Option<f64>) -> String {
    snr.map_or_else(|| "exact".to_owned(), |snr| format!("{snr:.1}"))
}

/// Formats a count with thin spaces between groups of three digits.
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

/// Formats a shape as `384 × 1536`.
fn shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests;
