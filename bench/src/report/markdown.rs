//! A report as a documentation page.

use std::fmt::Write;

use super::{Report, Unit, Verdict, grid};
use crate::measure::Pace;

/// Renders the report.
pub(crate) fn page(report: &Report) -> String {
    let mut page = format!("# {}\n\n{}\n\n", report.title, report.intro);
    let _ = writeln!(page, "- CPU: {}", report.machine.cpu);
    let _ = writeln!(page, "- Backends: {}", report.machine.backends.join(", "));
    let _ = writeln!(page, "- Commit: {}", report.machine.commit.as_deref().unwrap_or("unknown"));
    for (word, said) in &report.facts {
        let _ = writeln!(page, "- {word}: {said}");
    }
    let _ = writeln!(page, "- Reproduce: `{}`", report.command());
    if report.pace == Pace::Quick {
        page.push_str("- Quick run: not for publication\n");
    }
    page.push_str(&bars(&report.verdicts()));
    for table in &report.tables {
        let _ = write!(page, "\n## {}\n\n{}, median (best).", table.title, capital(table.unit));
        if !table.note.is_empty() {
            let _ = write!(page, " {}", table.note);
        }
        page.push_str("\n\n");
        page.push_str(&piped(&grid::cells(table), "--:"));
    }
    for sheet in &report.sheets {
        let _ = write!(page, "\n## {}\n\n{}\n\n{}", sheet.title, sheet.note, piped(&sheet.cells, "--:"));
    }
    page
}

/// Renders the targets with their results; empty without targets.
fn bars(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut rows = vec![["", "table", "target", "result"].map(str::to_owned).to_vec()];
    rows.extend(verdicts.iter().map(|v| {
        let mark = if v.met { "met" } else { "missed" };
        vec![mark.to_owned(), v.table.to_owned(), v.bar(), v.finding()]
    }));
    format!("\n## Targets\n\n{}", piped(&rows, ":--"))
}

/// Formats a unit for the beginning of a sentence.
fn capital(unit: Unit) -> String {
    match unit {
        Unit::GbPerS(_) => unit.to_string(),
        Unit::Milliseconds => "Milliseconds".to_owned(),
        Unit::Microseconds => "Microseconds".to_owned(),
    }
}

/// Renders rows as a Markdown table; the first row is the header, and columns after the first have this alignment.
fn piped(rows: &[Vec<String>], alignment: &str) -> String {
    let mut lines = String::new();
    for (i, row) in rows.iter().enumerate() {
        let _ = writeln!(lines, "| {} |", row.join(" | "));
        if i == 0 {
            let _ = writeln!(lines, "|:--|{}", format!("{alignment}|").repeat(row.len() - 1));
        }
    }
    lines
}
