//! All figures of all tensors, as a table that can be sorted and filtered.

use maud::{Markup, html};

use super::names::{breakable, clean};
use super::number::{Size, digits};
use super::{Palette, decibels, percent, shape};
use crate::model::compare::Row;

const COLUMNS: [&str; 13] = [
    "tensor",
    "shape",
    "before",
    "after",
    "bytes before",
    "bytes after",
    "max error",
    "RMSE",
    "relative RMSE",
    "cosine",
    "SNR dB",
    "optimum dB",
    "limit dB",
];

pub(super) fn section(rows: &[Row], palette: &Palette) -> Markup {
    html! {
        section {
            h2 { "All tensors" }
            p class="note" {
                "Optimum: the optimal quantizer with the same number of levels and one scale, on normally distributed \
                 weights. Limit: the upper bound for any code with the same bits per weight."
            }
            p id="filter" hidden {
                input type="search" placeholder="filter by name" aria-label="filter by name";
                " "
                span class="dim" {}
            }
            div class="scroll" {
                table id="tensors" {
                    thead {
                        tr {
                            @for (i, name) in COLUMNS.iter().enumerate() {
                                th class=[(i > 3).then_some("n")] { button type="button" { (name) } }
                            }
                        }
                    }
                    tbody { @for one in rows { (row(one, palette)) } }
                }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sort key")]
fn row(row: &Row, palette: &Palette) -> Markup {
    let figures = &row.figures;
    // Plain floats have no optimum, and their limit is too large to be of interest.
    let theory = |db: f64| match row.optimum_db {
        Some(_) => number(db, &format!("{db:.1}")),
        None => number(f64::INFINITY, "–"),
    };
    html! {
        tr data-name=(clean(&row.name)) {
            td class="name" { (breakable(&row.name)) }
            td class="nowrap" data-v=(row.elements()) { (shape(&row.shape)) }
            td { (clean(&row.first)) }
            td class="nowrap" { span class={ "dot " (palette.class(&row.second)) } {} (clean(&row.second)) }
            (number(row.first_bytes as f64, &Size(row.first_bytes).to_string()))
            (number(row.second_bytes as f64, &Size(row.second_bytes).to_string()))
            (number(figures.max_error, &digits(figures.max_error)))
            (number(figures.rmse, &digits(figures.rmse)))
            (number(figures.relative_rmse, &percent(figures.relative_rmse)))
            (number(figures.cosine, &format!("{:.6}", figures.cosine)))
            (number(figures.snr_db.unwrap_or(f64::INFINITY), &decibels(figures.snr_db)))
            (theory(row.optimum_db.unwrap_or_default()))
            (theory(row.limit_db))
        }
    }
}

/// Renders a cell with its sort key. Non-finite values get no key, which sorts them last in both directions.
fn number(key: f64, text: &str) -> Markup {
    let key = key.is_finite().then(|| format!("{key:e}"));
    html! { td class="n" data-v=[key] { (text) } }
}
