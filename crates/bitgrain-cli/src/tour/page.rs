//! The tour as one self-contained HTML page: the style sheet of `bitgrain compare --report`, tables and bar charts.

use bitgrain::nn::model::report::STYLE;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Chapter;
use super::block::{Block, Chart};
use crate::table::Table;

/// Additions to the style sheet: definition lists, and charts side by side where they fit.
const MORE_STYLE: &str = "
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; font-size: 13.5px; max-width: 90ch; }
dt { font-weight: 600; } dd { margin: 0; color: var(--dim); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 20px 34px; margin: 16px 0; }
.charts h3 { margin-bottom: 6px; }
nav a { color: var(--accent); margin-right: 14px; }
";

/// Returns the page for these chapters.
pub(crate) fn html(chapters: &[(&Chapter, Vec<Block>)]) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Tour of Bitgrain" }
                style { (PreEscaped(STYLE)) (PreEscaped(MORE_STYLE)) }
            }
            body {
                main {
                    header {
                        h1 { "Tour of Bitgrain " (env!("CARGO_PKG_VERSION")) }
                        p { "Measured on this machine by " code { "bitgrain tour" } "." }
                        nav { @for (chapter, _) in chapters { a href={ "#" (chapter.name) } { (chapter.name) } } }
                    }
                    @for (chapter, blocks) in chapters { (section(chapter, blocks)) }
                }
            }
        }
    }
    .into_string()
}

fn section(chapter: &Chapter, blocks: &[Block]) -> Markup {
    let charts: Vec<&Chart> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        })
        .collect();
    // All charts of a chapter are placed where its first one is, so that they can share a row.
    let first = blocks.iter().position(|block| matches!(block, Block::Chart(_)));
    html! {
        section id=(chapter.name) {
            h2 { (chapter.title) }
            @for (i, block) in blocks.iter().enumerate() {
                @match block {
                    Block::Text(text) => @for line in text.lines() { p { (line) } },
                    Block::Terms(terms) => dl { @for (term, text) in terms { dt { (term) } dd { (text) } } },
                    Block::Table(table) => (self::table(table)),
                    Block::Chart(_) if first == Some(i) => div class="charts" { @for chart in &charts { (bars(chart)) } },
                    Block::Chart(_) | Block::Terminal(_) => {},
                }
            }
        }
    }
}

fn table(table: &Table) -> Markup {
    let class = |column: usize| if table.is_number(column) { "n" } else { "nowrap" };
    html! {
        div class="scroll" {
            table {
                thead { tr { @for (i, cell) in table.header().iter().enumerate() { th class=(class(i)) { (cell) } } } }
                tbody {
                    @for row in table.rows() {
                        tr { @for (i, cell) in row.iter().enumerate() { td class=(class(i)) { (cell) } } }
                    }
                }
            }
        }
    }
}

fn bars(chart: &Chart) -> Markup {
    let most = chart.bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let width = |value: f64| if most > 0.0 && value.is_finite() { 100.0 * value / most } else { 0.0 };
    html! {
        div class="bars" {
            h3 { (chart.title) }
            @for bar in &chart.bars {
                div class="bar" {
                    span class="name" { (bar.label) }
                    span class="track" { b class="f0" style=(format!("width:{:.2}%", width(bar.value))) {} }
                    span class="value" { (bar.text) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CHAPTERS;
    use super::*;

    #[test]
    fn a_page_has_tables_and_charts_escapes_text_and_loads_no_other_file() {
        let mut table = Table::new(&["format", "bytes"], 1);
        table.row(["<8 bit>".to_owned(), "10".to_owned()]);
        let chart = Block::chart("Bytes", &[10.0, 5.0], |value| ("a & b".to_owned(), *value, value.to_string()));
        let blocks = vec![Block::text("Text."), Block::Table(table), chart, Block::Terminal("###".to_owned())];
        let page = html(&[(&CHAPTERS[0], blocks)]);
        assert!(page.contains("<td class=\"nowrap\">&lt;8 bit&gt;</td><td class=\"n\">10</td>"), "{page}");
        assert!(page.contains("a &amp; b") && page.contains("width:50.00%") && !page.contains("###"), "{page}");
        assert!(!page.contains("http") && !page.contains("src="), "{page}");
    }
}
