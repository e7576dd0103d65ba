//! Results: tables of timings with their ratios and targets. Rendered as text, Markdown or JSON.

mod grid;
pub(crate) mod json;
pub(crate) mod markdown;
mod sheet;
pub(crate) mod text;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::measure::{Pace, Timing};

pub(crate) use sheet::Sheet;

/// Results of one suite.
pub(crate) struct Report {
    pub(crate) suite: &'static str,
    pub(crate) title: &'static str,
    pub(crate) intro: String,
    pub(crate) pace: Pace,
    /// Arguments of the command, other than the pace.
    pub(crate) options: Vec<&'static str>,
    pub(crate) machine: Machine,
    /// Additional facts about the run: a name and a value.
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) tables: Vec<Table>,
    /// Tables of other measurements than timings.
    pub(crate) sheets: Vec<Sheet>,
    /// Targets checked against sheets.
    pub(crate) judged: Vec<Verdict>,
}

impl Report {
    /// Creates a report with timings only.
    pub(crate) fn of_tables(
        suite: &'static str,
        title: &'static str,
        intro: String,
        pace: Pace,
        tables: Vec<Table>,
    ) -> Self {
        let machine = Machine::read();
        let (options, facts, sheets, judged) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { suite, title, intro, pace, options, machine, facts, tables, sheets, judged }
    }

    /// Returns the command that repeats the run.
    pub(crate) fn command(&self) -> String {
        let mut options: Vec<&str> = (self.pace == Pace::Quick).then_some("--quick").into_iter().collect();
        options.extend(&self.options);
        let options = if options.is_empty() { String::new() } else { format!(" -- {}", options.join(" ")) };
        format!("cargo xtask bench {}{options}", self.suite)
    }

    /// Checks every target of every table and sheet.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let of = |table: &Table| table.figures.iter().filter_map(|f| Verdict::of(table, f)).collect::<Vec<_>>();
        self.tables.iter().flat_map(of).chain(self.judged.iter().cloned()).collect()
    }
}

/// Comparisons with the same contenders and targets, one per row.
pub(crate) struct Table {
    pub(crate) title: &'static str,
    pub(crate) note: String,
    pub(crate) unit: Unit,
    /// Header of the first column, such as `bits`.
    pub(crate) axis: &'static str,
    pub(crate) figures: Vec<Figure>,
    pub(crate) rows: Vec<Row>,
}

/// Unit of the numbers of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Throughput; the string names the data that is counted.
    GbPerS(&'static str),
    /// Time per call, where throughput is not meaningful.
    Milliseconds,
    /// Time per call, for short calls.
    Microseconds,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GbPerS(counted) => write!(f, "GB/s of {counted}"),
            Self::Milliseconds => f.write_str("milliseconds"),
            Self::Microseconds => f.write_str("microseconds"),
        }
    }
}

/// One comparison.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    /// Whether the targets of the table apply.
    pub(crate) judged: bool,
    pub(crate) timings: Vec<Timing>,
}

impl Row {
    pub(crate) fn judged(label: impl Into<String>, timings: Vec<Timing>) -> Self {
        Self { label: label.into(), judged: true, timings }
    }

    pub(crate) fn timing(&self, contestant: &str) -> Option<&Timing> {
        self.timings.iter().find(|t| t.contestant == contestant)
    }
}

/// A figure computed from the medians of a row: the speed of a contender, or its ratio to another's.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Figure {
    pub(crate) of: &'static str,
    /// `None` if the figure is a speed in GB/s.
    pub(crate) to: Option<&'static str>,
    /// Target, if any.
    pub(crate) at_least: Option<f64>,
}

impl Figure {
    pub(crate) const fn ratio(of: &'static str, to: &'static str) -> Self {
        Self { of, to: Some(to), at_least: None }
    }

    pub(crate) const fn speed(of: &'static str) -> Self {
        Self { of, to: None, at_least: None }
    }

    pub(crate) const fn at_least(self, bar: f64) -> Self {
        Self { at_least: Some(bar), ..self }
    }

    /// Returns `None` if a contender is missing from the row.
    pub(crate) fn value(&self, row: &Row) -> Option<f64> {
        let of = row.timing(self.of)?.median_gb_per_s();
        self.to.map_or(Some(of), |to| Some(of / row.timing(to)?.median_gb_per_s()))
    }

    /// Returns whether the row meets the target; `None` without a target, or if targets do not apply to the row.
    pub(crate) fn met(&self, row: &Row) -> Option<bool> {
        let (bar, value) = (self.at_least?, self.value(row)?);
        row.judged.then_some(value >= bar)
    }

    /// Formats a value: `0.83×` or `31.2 GB/s`.
    pub(crate) fn show(&self, value: f64) -> String {
        if self.to.is_some() { format!("{value:.2}×") } else { format!("{} GB/s", grid::speed(value)) }
    }

    fn name(&self) -> String {
        self.to.map_or_else(|| self.of.to_owned(), |to| format!("{} / {to}", self.of))
    }
}

/// A target and the rows checked against it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Verdict {
    pub(crate) table: &'static str,
    #[serde(flatten)]
    pub(crate) figure: Figure,
    pub(crate) met: bool,
    pub(crate) rows: usize,
    pub(crate) worst: Finding,
    /// Rows below the target.
    pub(crate) missed: Vec<Finding>,
}

/// Value of a figure in one row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    row: String,
    value: f64,
    /// Value computed from the best samples, for speeds; if it is far above the median, the machine is noisy.
    best: Option<f64>,
}

impl Verdict {
    fn of(table: &Table, figure: &Figure) -> Option<Self> {
        let judged = table.rows.iter().filter(|row| figure.met(row).is_some());
        Self::new(table.title, *figure, judged.filter_map(|row| Finding::of(row, figure)).collect())
    }

    /// Returns `None` without a target or without rows to check.
    pub(crate) fn new(table: &'static str, figure: Figure, findings: Vec<Finding>) -> Option<Self> {
        let worst = findings.iter().min_by(|a, b| a.value.total_cmp(&b.value))?.clone();
        let (rows, bar) = (findings.len(), figure.at_least?);
        let missed: Vec<_> = findings.into_iter().filter(|finding| finding.value < bar).collect();
        Some(Self { table, figure, met: missed.is_empty(), rows, worst, missed })
    }

    /// Formats the target: `avx512 / memcpy at least 0.70×`.
    pub(crate) fn bar(&self) -> String {
        let bar = self.figure.at_least.map_or_else(String::new, |bar| self.figure.show(bar));
        format!("{} at least {bar}", self.figure.name())
    }

    /// Formats the result: `worst 0.83× (8 bits)`, or every row below the target.
    pub(crate) fn finding(&self) -> String {
        if self.met {
            return format!("worst {}", self.worst.show(&self.figure));
        }
        let missed: Vec<_> = self.missed.iter().map(|finding| finding.show(&self.figure)).collect();
        format!("{} of {} rows below: {}", missed.len(), self.rows, missed.join(", "))
    }
}

impl Finding {
    /// Creates a finding for a value that is not a timing.
    pub(crate) const fn new(row: String, value: f64) -> Self {
        Self { row, value, best: None }
    }

    fn of(row: &Row, figure: &Figure) -> Option<Self> {
        let best = row.timing(figure.of).filter(|_| figure.to.is_none()).map(Timing::best_gb_per_s);
        Some(Self { row: row.label.clone(), value: figure.value(row)?, best })
    }

    fn show(&self, figure: &Figure) -> String {
        let best = self.best.map_or_else(String::new, |best| format!(", best {}", grid::speed(best)));
        format!("{} ({}{best})", figure.show(self.value), self.row)
    }
}

#[cfg(test)]
mod tests;
