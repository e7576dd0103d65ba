//! Charts of the benchmark pages, drawn from their tables: one SVG file per page, in the same folder.

mod figures;
mod svg;

use std::fs;
use std::path::Path;

use crate::error::TaskError;
use crate::step::root;

/// The pages, from the workspace root.
const FOLDER: &str = "docs/benchmarks";

/// One chart.
struct Chart {
    /// Name of the page and of the chart, without extension.
    page: &'static str,
    title: &'static str,
    panels: &'static [Panel],
}

/// A set of bars with its own scale.
struct Panel {
    title: &'static str,
    /// Heading of the section whose table holds the figures.
    section: &'static str,
    bars: Bars,
    /// Unit after each figure.
    unit: &'static str,
    /// Direction of better values.
    better: Better,
}

/// Cells of a table that become bars.
enum Bars {
    /// One bar per row: the column with this header, only rows whose second cell is `of` if given.
    Column { header: &'static str, of: Option<&'static str> },
    /// One bar per contender: the row with this label, columns up to the first ratio, excluding this one. Measurements
    /// of the hardware that do not do the same work are excluded.
    Row { label: &'static str, without: &'static str },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Better {
    Lower,
    /// Speed relative to another library: a line marks 1.
    Ratio,
}

const CHARTS: [Chart; 5] = [
    Chart {
        page: "boosting",
        title: "Gradient boosting, 1,000,000 rows × 28 features, 2 threads",
        panels: &[
            Panel {
                title: "Training",
                section: "Binary, 1,000,000 × 28, 2 threads",
                bars: Bars::Column { header: "train, s", of: None },
                unit: "s",
                better: Better::Lower,
            },
            Panel {
                title: "Prediction of 1,000,000 rows",
                section: "Binary, 1,000,000 × 28, 2 threads",
                bars: Bars::Column { header: "predict, ms", of: None },
                unit: "ms",
                better: Better::Lower,
            },
            Panel {
                title: "Peak memory of training",
                section: "Binary, 1,000,000 × 28, 2 threads",
                bars: Bars::Column { header: "peak, MB", of: None },
                unit: "MB",
                better: Better::Lower,
            },
        ],
    },
    Chart {
        page: "codec",
        title: "Encoding and decoding f32 tensors, one thread",
        panels: &[
            Panel {
                title: "Encode, speed relative to memcpy of the f32 input",
                section: "Encode",
                bars: Bars::Column { header: "avx512 / memcpy", of: None },
                unit: "×",
                better: Better::Ratio,
            },
            Panel {
                title: "Decode, speed relative to memcpy of the f32 output",
                section: "Decode",
                bars: Bars::Column { header: "avx512 / memcpy", of: None },
                unit: "×",
                better: Better::Ratio,
            },
        ],
    },
    Chart {
        page: "weights",
        title: "Block formats of llama.cpp, one thread, from memory",
        panels: &[
            Panel {
                title: "Quantize, speed relative to ggml",
                section: "Quantize from memory",
                bars: Bars::Column { header: "bitgrain / ggml", of: None },
                unit: "×",
                better: Better::Ratio,
            },
            Panel {
                title: "Quantize formats with a search, speed relative to ggml",
                section: "Quantize from memory, with a search",
                bars: Bars::Column { header: "bitgrain / ggml", of: None },
                unit: "×",
                better: Better::Ratio,
            },
            Panel {
                title: "Dequantize, speed relative to ggml",
                section: "Dequantize from memory",
                bars: Bars::Column { header: "bitgrain / ggml", of: None },
                unit: "×",
                better: Better::Ratio,
            },
            Panel {
                title: "Dequantize formats with a search, speed relative to ggml",
                section: "Dequantize from memory, searched formats",
                bars: Bars::Column { header: "bitgrain / ggml", of: None },
                unit: "×",
                better: Better::Ratio,
            },
        ],
    },
    Chart {
        page: "nn",
        title: "Products with a 4096 × 4096 matrix in Q4_0, and sentences",
        panels: &[
            Panel {
                title: "Matrix times vector, 1 thread",
                section: "Matrix times vector",
                bars: Bars::Row { label: "q4_0, 1 thread", without: "read" },
                unit: "ms",
                better: Better::Lower,
            },
            Panel {
                title: "Matrix times a batch of 32, 1 thread",
                section: "Matrix times a batch of 32",
                bars: Bars::Row { label: "q4_0, 1 thread", without: "read" },
                unit: "ms",
                better: Better::Lower,
            },
            Panel {
                title: "32 sentences with all-MiniLM-L6-v2, 2 threads",
                section: "Sentences embedded",
                bars: Bars::Row { label: "32 sentences, 2 threads", without: "" },
                unit: "ms",
                better: Better::Lower,
            },
        ],
    },
    Chart {
        page: "store",
        title: "Tensors of 1,000 floats in a store",
        panels: &[
            Panel {
                title: "Get",
                section: "Get",
                bars: Bars::Row { label: "1,000 floats", without: "read + decode" },
                unit: "µs",
                better: Better::Lower,
            },
            Panel {
                title: "Put, each write synced",
                section: "Put",
                bars: Bars::Row { label: "1,000 floats, synced", without: "encode + write" },
                unit: "µs",
                better: Better::Lower,
            },
            Panel {
                title: "Bytes on disk per tensor",
                section: "Bytes on disk",
                bars: Bars::Column { header: "bytes per tensor", of: Some("1,000 floats") },
                unit: "B",
                better: Better::Lower,
            },
        ],
    },
];

/// Draws the chart of every page and inserts it into the page.
///
/// # Errors
/// Returns [`TaskError::Unreadable`] for a page, or [`TaskError::Record`] if a page lacks a table that a chart needs.
pub(crate) fn draw_all() -> Result<(), TaskError> {
    CHARTS.iter().try_for_each(draw)
}

/// Draws the chart of the page at `path` like [`draw_all`]; does nothing if the page has no chart.
pub(crate) fn draw_of(path: &Path) -> Result<(), TaskError> {
    let name = path.file_stem().unwrap_or_default();
    let belongs = path.parent().is_some_and(|folder| folder.ends_with(FOLDER));
    CHARTS.iter().filter(|chart| belongs && name == chart.page).try_for_each(draw)
}

fn draw(chart: &Chart) -> Result<(), TaskError> {
    let path = root().join(FOLDER).join(chart.page).with_extension("md");
    let page = fs::read_to_string(&path).map_err(|source| TaskError::Unreadable { path: path.clone(), source })?;
    fs::write(path.with_extension("svg"), render(chart, &page)?)?;
    fs::write(&path, shown(chart, &page))?;
    Ok(())
}

fn render(chart: &Chart, page: &str) -> Result<String, TaskError> {
    let panels = chart.panels.iter().map(|panel| {
        let missing = || TaskError::Record {
            path: format!("{FOLDER}/{}.md", chart.page).into(),
            cause: format!("no figures for the panel `{}` in the section `{}`", panel.title, panel.section),
        };
        figures::bars(page, panel).ok_or_else(missing).map(|bars| (panel, bars))
    });
    Ok(svg::document(chart, &panels.collect::<Result<Vec<_>, _>>()?))
}

/// Returns the page with an image of its chart after the list of facts about the run.
fn shown(chart: &Chart, page: &str) -> String {
    let image = format!("![{}]({}.svg)\n", chart.title, chart.page);
    if page.contains(&image) {
        return page.to_owned();
    }
    // The list ends with the command; a page without one starts with the image after its first paragraph.
    let after = page.find("- Reproduce: ").or_else(|| page.find("\n\n")).unwrap_or(0);
    let at = page[after..].find("\n\n").map_or(page.len(), |end| after + end + 2);
    format!("{}{image}\n{}", &page[..at], &page[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_match_the_tables_of_their_pages() {
        for chart in &CHARTS {
            let path = root().join(FOLDER).join(chart.page).with_extension("md");
            let page = fs::read_to_string(&path).expect("a page");
            let drawn = fs::read_to_string(path.with_extension("svg")).expect("a chart");
            let rendered = render(chart, &page).expect("every panel has figures");
            assert!(drawn == rendered, "{} is out of date: run `cargo xtask charts`", chart.page);
            assert_eq!(shown(chart, &page), page, "the page shows its chart once");
        }
    }

    #[test]
    fn a_page_gets_its_image_after_the_command_that_measured_it() {
        let page = "# T\n\nIntro.\n\n- CPU: x\n- Reproduce: `y`\n\n## A\n";
        let with = shown(&CHARTS[0], page);
        assert!(with.contains("- Reproduce: `y`\n\n![") && with.ends_with(".svg)\n\n## A\n"), "{with}");
        assert_eq!(shown(&CHARTS[0], &with), with);
    }

    #[test]
    fn a_page_without_the_table_is_an_error_that_names_it() {
        let message = render(&CHARTS[0], "# Boosting\n").expect_err("no table").to_string();
        assert!(message.contains("boosting.md") && message.contains("Training"), "{message}");
    }
}
