//! Reports as JSON: all timings, figures and targets, unrounded.

use serde_json::{Value, json};

use super::{Figure, Report, Row, Table};
use crate::measure::{Pace, Timing};

/// Returns an array with one object per suite.
pub(crate) fn document(reports: &[Report]) -> Value {
    reports.iter().map(report).collect()
}

fn report(report: &Report) -> Value {
    json!({
        "suite": report.suite,
        "quick": report.pace == Pace::Quick,
        "command": report.command(),
        "machine": report.machine,
        "tables": report.tables.iter().map(table).collect::<Value>(),
        "sheets": report.sheets.iter().map(|sheet| sheet.value.clone()).collect::<Value>(),
        "bars": report.verdicts(),
    })
}

fn table(table: &Table) -> Value {
    let row = |row: &Row| {
        let figure = |f: &Figure| {
            let mut figure = json!(f);
            figure["value"] = json!(f.value(row));
            figure["met"] = json!(f.met(row));
            figure
        };
        json!({
            table.axis: row.label,
            "timings": row.timings.iter().map(timing).collect::<Value>(),
            "figures": table.figures.iter().map(figure).collect::<Value>(),
        })
    };
    json!({"title": table.title, "unit": table.unit.to_string(), "rows": table.rows.iter().map(row).collect::<Value>()})
}

fn timing(timing: &Timing) -> Value {
    let mut value = json!(timing);
    value["median_gb_per_s"] = json!(timing.median_gb_per_s());
    value["best_gb_per_s"] = json!(timing.best_gb_per_s());
    value
}
