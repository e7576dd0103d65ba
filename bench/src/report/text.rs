//! A report for the terminal: aligned columns.

use std::fmt::Write;

use super::{Report, grid};

/// Renders the report.
pub(crate) fn page(report: &Report) -> String {
    let mut page = format!("{}\n{}\n\n", report.title, head(report));
    for table in &report.tables {
        let _ = writeln!(page, "{}: {}, median (best)", table.title, table.unit);
        if !table.note.is_empty() {
            page.push_str(&wrapped(&table.note));
        }
        page.push_str(&aligned(&grid::cells(table)));
        page.push('\n');
    }
    for sheet in &report.sheets {
        let _ = writeln!(page, "{}", sheet.title);
        page.push_str(&wrapped(&sheet.note));
        let plain = |row: &Vec<String>| row.iter().map(|cell| cell.replace("**", "")).collect();
        page.push_str(&aligned(&sheet.cells.iter().map(plain).collect::<Vec<_>>()));
        page.push('\n');
    }
    let verdicts = report.verdicts();
    if verdicts.is_empty() {
        return page;
    }
    page.push_str("Targets\n");
    for v in &verdicts {
        let mark = if v.met { "met" } else { "missed" };
        let _ = writeln!(page, "  {mark:<6}  {:<22}  {:<38}  {}", v.table, v.bar(), v.finding());
    }
    let met = verdicts.iter().filter(|v| v.met).count();
    let _ = writeln!(page, "  {met} of {} met", verdicts.len());
    page
}

/// Formats the machine, the source revision and the command that repeats the run.
fn head(report: &Report) -> String {
    let commit = report.machine.commit.as_deref().unwrap_or("unknown");
    let (cpu, backends, command) = (&report.machine.cpu, report.machine.backends.join(", "), report.command());
    let facts: String = report.facts.iter().map(|(word, said)| format!("{word}: {said}\n")).collect();
    format!("CPU {cpu}; backends {backends}; commit {commit}; default build\n{facts}Reproduce: {command}")
}

/// Wraps a paragraph to indented lines of at most 120 characters.
fn wrapped(note: &str) -> String {
    let mut lines = String::new();
    let mut column = usize::MAX;
    for word in note.split_whitespace() {
        let len = word.chars().count() + 1;
        if column.saturating_add(len) > 120 {
            lines.push_str(if lines.is_empty() { " " } else { "\n " });
            column = 1;
        }
        lines.push(' ');
        lines.push_str(word);
        column += len;
    }
    lines + "\n"
}

/// Aligns the first column left and the others right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut lines = String::new();
    for row in rows {
        let _ = write!(lines, "  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(lines, "  {cell:>width$}");
        }
        lines.push('\n');
    }
    lines
}
