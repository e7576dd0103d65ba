//! Error per tensor: a bar each, with marks where theory stands.

use super::escape::{breakable, escape};
use super::{Palette, percent};
use crate::model::compare::Row;

/// Bars that are shown at once; the others wait behind a click.
const OPEN: usize = 40;

pub(super) fn section(worst: &[&Row], palette: &Palette) -> String {
    let changed: Vec<&Row> = worst.iter().copied().filter(|row| !row.is_equal()).collect();
    let equal = worst.len() - changed.len();
    let mut out = String::from("<section>\n<h2>Error per tensor</h2>\n");
    if changed.is_empty() {
        return out + "<p>No tensor lost anything.</p>\n</section>\n";
    }
    out += "<p class=\"note\">Relative RMS error, the largest first; colours are those of the formats above. \
            <span class=\"key optimum\"></span> best quantizer with as many levels and one scale, on normally \
            distributed weights: scales for small blocks can pass it. \
            <span class=\"key limit\"></span> Shannon's bound at as many bits.</p>\n";
    let ends = changed.iter().flat_map(|row| [row.figures.relative_rmse, relative(row.optimum_db)]);
    let scale = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    let bars = |rows: &[&Row]| rows.iter().map(|row| bar(row, scale, palette)).collect::<String>();
    let (open, rest) = changed.split_at(changed.len().min(OPEN));
    out += &format!("<div class=\"bars\">\n{}</div>\n", bars(open));
    if !rest.is_empty() {
        out += &format!(
            "<details><summary>{} more, with smaller errors</summary><div class=\"bars\">\n{}</div></details>\n",
            rest.len(),
            bars(rest)
        );
    }
    if equal > 0 {
        out += &format!("<p class=\"note\">{equal} tensors are exactly the same in both and have no bar.</p>\n");
    }
    out + "</section>\n"
}

fn bar(row: &Row, scale: f64, palette: &Palette) -> String {
    let lost = row.figures.relative_rmse;
    let place = |error: f64| if error.is_finite() { 100.0 * (error / scale).min(1.0) } else { 100.0 };
    let mark = |class: &str, error: f64| format!("<i class=\"{class}\" style=\"left:{:.2}%\"></i>", place(error));
    let marks = match row.optimum_db {
        Some(_) => mark("optimum", relative(row.optimum_db)) + &mark("limit", relative(Some(row.limit_db))),
        None => String::new(),
    };
    format!(
        "<div class=\"bar\" data-name=\"{title}\"><span class=\"name\" title=\"{title}\">{name}</span>\
         <span class=\"track\"><b class=\"{class}\" style=\"width:{width:.2}%\"></b>{marks}</span>\
         <span class=\"value\">{value}</span></div>\n",
        title = escape(&row.name),
        name = breakable(&row.name),
        class = palette.class(&row.second),
        width = place(lost),
        value = percent(lost),
    )
}

/// A ratio of signal to noise as relative RMS error; none is no error.
fn relative(db: Option<f64>) -> f64 {
    db.map_or(0.0, |db| 10.0_f64.powf(-db / 20.0))
}
