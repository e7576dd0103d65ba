//! Every figure of every tensor, as a table that can be sorted and filtered.

use super::escape::{breakable, escape};
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

pub(super) fn section(rows: &[Row], palette: &Palette) -> String {
    let head: String = COLUMNS
        .iter()
        .enumerate()
        .map(|(i, name)| {
            format!("<th{}><button type=\"button\">{name}</button></th>", if i > 3 { " class=\"n\"" } else { "" })
        })
        .collect();
    let body: String = rows.iter().map(|r| row(r, palette)).collect();
    format!(
        "<section>\n<h2>All tensors</h2>\n<p class=\"note\">Optimum: the best quantizer with as many levels and one \
         scale, on normally distributed weights. Limit: what nothing at as many bits per weight can pass.</p>\n\
         <p id=\"filter\" hidden><input type=\"search\" placeholder=\"part of a name\" aria-label=\"part of a name\"> \
         <span class=\"dim\"></span></p>\n<div class=\"scroll\"><table id=\"tensors\">\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody></table></div>\n</section>\n"
    )
}

#[expect(clippy::cast_precision_loss, reason = "a key to sort by")]
fn row(row: &Row, palette: &Palette) -> String {
    let figures = &row.figures;
    let number = |key: f64, text: String| {
        // Values that are no numbers go to the end, whatever the order.
        let key = if key.is_finite() { format!(" data-v=\"{key:e}\"") } else { String::new() };
        format!("<td class=\"n\"{key}>{text}</td>")
    };
    // Beside plain floats theory has nothing to say but a number too large to matter.
    let theory = |db: f64| match row.optimum_db {
        Some(_) => number(db, format!("{db:.1}")),
        None => number(f64::INFINITY, "–".to_owned()),
    };
    let name = escape(&row.name);
    [
        format!("<tr data-name=\"{name}\"><td class=\"name\">{}</td>", breakable(&row.name)),
        format!("<td class=\"nowrap\" data-v=\"{}\">{}</td>", row.elements(), shape(&row.shape)),
        format!("<td>{}</td>", escape(&row.first)),
        format!(
            "<td class=\"nowrap\"><span class=\"dot {}\"></span>{}</td>",
            palette.class(&row.second),
            escape(&row.second)
        ),
        number(row.first_bytes as f64, Size(row.first_bytes).to_string()),
        number(row.second_bytes as f64, Size(row.second_bytes).to_string()),
        number(figures.max_error, digits(figures.max_error)),
        number(figures.rmse, digits(figures.rmse)),
        number(figures.relative_rmse, percent(figures.relative_rmse)),
        number(figures.cosine, format!("{:.6}", figures.cosine)),
        number(figures.snr_db.unwrap_or(f64::INFINITY), decibels(figures.snr_db)),
        theory(row.optimum_db.unwrap_or_default()),
        theory(row.limit_db),
        "</tr>\n".to_owned(),
    ]
    .concat()
}
