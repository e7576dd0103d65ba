//! Figures of a panel, read from a table of a Markdown page.

use super::{Bars, Panel};

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    /// The figure as in the table, without unit.
    pub(super) text: String,
    pub(super) ours: bool,
    /// Whether the table marks the result as less accurate than the others, so that the figure is not comparable.
    pub(super) is_worse: bool,
}

/// Header of the column that says whether a result is as accurate as the reference.
const QUALITY: &str = "equal quality";

/// Returns the bars of a panel; `None` if the page lacks the table, the row or the column.
pub(super) fn bars(page: &str, panel: &Panel) -> Option<Vec<Bar>> {
    let rows = table(page, panel.section)?;
    let (header, rows) = rows.split_first()?;
    let bars: Vec<Bar> = match panel.bars {
        Bars::Column { header: wanted, of } => {
            // Targets follow a header in parentheses: `avx512 / memcpy (≥ 0.7)`.
            let column = header.iter().position(|cell| cell.split(" (≥").next() == Some(wanted))?;
            let rows = rows.iter().filter(|row| of.is_none_or(|of| row.get(1).is_some_and(|cell| cell == of)));
            let quality = header.iter().position(|cell| cell == QUALITY);
            let is_worse = |row: &[String]| quality.and_then(|at| row.get(at)).is_some_and(|cell| cell == "no");
            let marked = |row: &Vec<String>| {
                let mut bar = bar(row.first()?, row.get(column)?)?;
                bar.is_worse = is_worse(row);
                Some(bar)
            };
            rows.filter_map(marked).collect()
        }
        Bars::Row { label, without } => {
            let row = rows.iter().find(|row| row.first().is_some_and(|cell| cell == label))?;
            let contestants = header.iter().zip(row).skip(1).take_while(|(name, _)| !name.contains(" / "));
            contestants.filter(|(name, _)| *name != without).filter_map(|(name, cell)| bar(name, cell)).collect()
        }
    };
    (!bars.is_empty()).then_some(bars)
}

/// Returns `None` for a cell without a number, such as a dash.
fn bar(label: &str, cell: &str) -> Option<Bar> {
    let text = cell.split([' ', '×']).next()?.to_owned();
    let value = text.parse().ok()?;
    // Any name that is not a competitor's is ours: the tables of products name our formats.
    let ours = label.contains("bitgrain") || ["f32", "q8_0", "int8"].contains(&label);
    Some(Bar { label: label.replace("**", "").replace(" (≥", " ("), value, text, ours, is_worse: false })
}

/// Returns the rows of the first table below a heading, starting with the header, without the line of dashes.
fn table(page: &str, section: &str) -> Option<Vec<Vec<String>>> {
    let heading = format!("## {section}");
    let mut lines = page.lines().skip_while(|line| *line != heading).skip(1);
    let below = lines.by_ref().take_while(|line| !line.starts_with("## ")).collect::<Vec<_>>();
    let rows = below.iter().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |row: &&str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    let mut rows: Vec<Vec<String>> = rows.map(cells).collect();
    if rows.len() < 2 {
        return None;
    }
    rows.remove(1);
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::super::Better;
    use super::*;

    const PAGE: &str = "# P\n\n## A\n\nNote.\n\n| keeper | tensor | size |\n|:--|--:|--:|\n| **bitgrain** | small | 10.5 |\n\
                        | redb | small | 20 |\n| redb | large | 30 |\n\n## B\n\n| tensor | bitgrain | redb | zarr | bitgrain / redb (≥ 2) |\n\
                        |:--|--:|--:|--:|--:|\n| 1,000 floats | 1.00 (0.79) | 2.41 (1.98) | – | 2.41× met |\n";

    fn panel(section: &'static str, bars: Bars) -> Panel {
        Panel { title: "t", section, bars, unit: "s", better: Better::Lower }
    }

    fn found(panel: &Panel) -> Vec<(String, f64, bool)> {
        bars(PAGE, panel).expect("figures").into_iter().map(|bar| (bar.label, bar.value, bar.ours)).collect()
    }

    #[test]
    fn columns_rows_and_ratios_are_found() {
        let sizes = panel("A", Bars::Column { header: "size", of: Some("small") });
        assert_eq!(found(&sizes), [("bitgrain".into(), 10.5, true), ("redb".into(), 20.0, false)]);
        let times = panel("B", Bars::Row { label: "1,000 floats", without: "" });
        assert_eq!(found(&times), [("bitgrain".into(), 1.0, true), ("redb".into(), 2.41, false)]);
        let ratio = panel("B", Bars::Column { header: "bitgrain / redb", of: None });
        assert_eq!(found(&ratio), [("1,000 floats".into(), 2.41, false)]);
        assert!(bars(PAGE, &panel("C", Bars::Row { label: "x", without: "" })).is_none());
        assert!(bars(PAGE, &panel("B", Bars::Row { label: "x", without: "" })).is_none());
    }
}
