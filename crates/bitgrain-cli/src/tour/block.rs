//! `Block`: a part of a chapter's report, rendered as text for terminals and as HTML for pages.

use std::io::{self, Write};

use crate::table::Table;

/// A part of a report.
#[derive(Debug)]
pub(crate) enum Block {
    /// Sentences; terminals keep the line breaks.
    Text(String),
    /// Terms of a table with their definitions; terminals keep the line breaks.
    Terms(Vec<(&'static str, String)>),
    /// A table of measurements.
    Table(Table),
    /// A bar chart, for pages only; the tables have the same values.
    Chart(Chart),
    /// Preformatted lines, for terminals only; pages have a chart instead.
    Terminal(String),
}

/// Bars of one quantity, scaled to the largest value.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) title: &'static str,
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    /// The value with its unit.
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn terms<const N: usize>(terms: [(&'static str, &str); N]) -> Self {
        Self::Terms(terms.map(|(term, text)| (term, text.to_owned())).into())
    }

    /// Creates a chart with a bar per row; `bar` returns its label, its value, and the value with its unit.
    pub(crate) fn chart<T>(title: &'static str, rows: &[T], bar: impl Fn(&T) -> (String, f64, String)) -> Self {
        let bars = rows.iter().map(bar).map(|(label, value, text)| Bar { label, value, text }).collect();
        Self::Chart(Chart { title, bars })
    }
}

/// Writes blocks for a terminal, separated by empty lines.
pub(crate) fn write_text(blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    let shown = blocks.iter().filter(|block| !matches!(block, Block::Chart(_)));
    for (i, block) in shown.enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        match block {
            Block::Text(text) => writeln!(out, "{text}")?,
            Block::Terms(terms) => write_terms(terms, out)?,
            Block::Table(table) => writeln!(out, "{table}")?,
            Block::Terminal(lines) => write!(out, "{lines}")?,
            Block::Chart(_) => {}
        }
    }
    Ok(())
}

fn write_terms(terms: &[(&str, String)], out: &mut dyn Write) -> io::Result<()> {
    let width = terms.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0) + 2;
    for (term, text) in terms {
        for (i, line) in text.lines().enumerate() {
            writeln!(out, "{:<width$}{line}", if i == 0 { term } else { "" })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_everything_but_charts_and_terms_are_aligned() {
        let blocks = [
            Block::text("Two rows."),
            Block::chart("A chart", &[1.0], |value| ("x".to_owned(), *value, "1".to_owned())),
            Block::terms([("bound", "guaranteed"), ("GB/s", "of f32,\nbest of five")]),
        ];
        let mut out = Vec::new();
        write_text(&blocks, &mut out).expect("writing to memory");
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(text, "Two rows.\n\nbound  guaranteed\nGB/s   of f32,\n       best of five\n");
    }
}
