//! A table as strings, for text and Markdown.

use super::{Figure, Row, Table, Unit};
use crate::measure::Timing;

/// Returns the header and the rows, all of the same length.
pub(super) fn cells(table: &Table) -> Vec<Vec<String>> {
    let mut contestants = Vec::new();
    for timing in table.rows.iter().flat_map(|row| &row.timings) {
        if !contestants.contains(&&*timing.contestant) {
            contestants.push(&*timing.contestant);
        }
    }
    let ratios: Vec<_> = table.figures.iter().filter(|figure| figure.to.is_some()).collect();
    let bar_of = |name| table.figures.iter().find(|figure| figure.to.is_none() && figure.of == name);

    let mut header = vec![table.axis.to_owned()];
    header.extend(contestants.iter().map(|&name| with_bar(name.to_owned(), bar_of(name))));
    header.extend(ratios.iter().map(|ratio| with_bar(ratio.name(), Some(ratio))));
    let row = |row: &Row| {
        let speeds = contestants
            .iter()
            .map(|&name| judged(row.timing(name).map(|timing| both(table.unit, timing)), bar_of(name), row));
        let ratios = ratios.iter().map(|ratio| judged(ratio.value(row).map(|v| ratio.show(v)), Some(ratio), row));
        std::iter::once(row.label.clone()).chain(speeds).chain(ratios).collect()
    };
    std::iter::once(header).chain(table.rows.iter().map(row)).collect()
}

/// Formats a speed with three digits, as many as a noisy machine supports.
pub(super) fn speed(gb_per_s: f64) -> String {
    match gb_per_s {
        ..0.0995 => format!("{gb_per_s:.4}"),
        ..9.995 => format!("{gb_per_s:.2}"),
        _ => format!("{gb_per_s:.1}"),
    }
}

fn both(unit: Unit, timing: &Timing) -> String {
    match unit {
        Unit::GbPerS(_) => format!("{} ({})", speed(timing.median_gb_per_s()), speed(timing.best_gb_per_s())),
        Unit::Milliseconds => format!("{:.3} ({:.3})", timing.median_seconds * 1e3, timing.best_seconds * 1e3),
        Unit::Microseconds => format!("{} ({})", speed(timing.median_seconds * 1e6), speed(timing.best_seconds * 1e6)),
    }
}

fn with_bar(name: String, figure: Option<&Figure>) -> String {
    match figure.and_then(|figure| figure.at_least) {
        Some(bar) => format!("{name} (≥ {bar})"),
        None => name,
    }
}

fn judged(cell: Option<String>, figure: Option<&Figure>, row: &Row) -> String {
    let Some(cell) = cell else { return "–".to_owned() };
    match figure.and_then(|figure| figure.met(row)) {
        Some(true) => format!("{cell} met"),
        Some(false) => format!("{cell} missed"),
        None => cell,
    }
}
