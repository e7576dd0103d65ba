//! A chart as SVG: panels of horizontal bars, in the light or dark colors that the reader's system prefers.

use std::fmt::Write;

use super::figures::Bar;
use super::{Better, Chart, Panel};

/// Narrow enough to be read on a phone, where the image shrinks to the width of the screen.
const WIDTH: f64 = 560.0;
const MARGIN: f64 = 16.0;
/// Labels are to the left of the bars, figures to the right.
const LABELS: f64 = 130.0;
/// Width of a letter, for labels that need more space.
const LETTER: f64 = 7.0;
const FIGURES: f64 = 74.0;
const BAR: f64 = 16.0;
const STEP: f64 = 22.0;
const TITLE: f64 = 26.0;
const PANEL: f64 = 30.0;

/// A bar that is this many times as long as the next shorter one is cut, so that the others can be compared.
const CUT: f64 = 8.0;

/// Marks results that are less accurate than the others.
const WORSE: &str = " *";
const NOTE: &str = "* less accurate than LightGBM; see the table";

/// The background is part of the image: pages may be light while the system prefers dark.
const STYLE: &str = "
  .ground { fill: #ffffff; stroke: #d0d7de }
  .ours { fill: #0f7b8a } .rival { fill: #a9b4c0 }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .panel { font-weight: 600 } .quiet { fill: #59636e }
  .one { stroke: #1f2328; stroke-width: 1.5 } .cut { stroke: #ffffff; stroke-width: 3 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #151b23; stroke: #3d444d }
    .ours { fill: #35b5c6 } .rival { fill: #66707c }
    text { fill: #f0f6fc } .quiet { fill: #9198a1 }
    .one { stroke: #f0f6fc } .cut { stroke: #151b23 }
  }
";

pub(super) fn document(chart: &Chart, panels: &[(&Panel, Vec<Bar>)]) -> String {
    let bars: usize = panels.iter().map(|(_, bars)| bars.len()).sum();
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let is_noted = panels.iter().flat_map(|(_, bars)| bars).any(|bar| bar.is_worse);
    let note = if is_noted { STEP } else { 0.0 };
    let height = MARGIN + TITLE + count(panels.len()) * PANEL + count(bars) * STEP + note + MARGIN;
    let letters = panels.iter().flat_map(|(_, bars)| bars).map(|bar| label(bar).chars().count()).max().unwrap_or(0);
    let left = MARGIN + LABELS.max(count(letters) * LETTER + 8.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n",
        escaped(&summary(chart, panels)),
    );
    let _ = writeln!(
        svg,
        "<rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
        WIDTH - 1.0,
        height - 1.0
    );
    let mut y = MARGIN + 12.0;
    let _ = writeln!(svg, "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\">{}</text>", escaped(chart.title));
    y += TITLE - 12.0;
    for (panel, bars) in panels {
        y += PANEL;
        let hint = match panel.better {
            Better::Lower => "shorter is better",
            Better::Ratio => "longer is better",
        };
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{}\"><tspan class=\"panel\">{}</tspan><tspan class=\"quiet\">, {hint}</tspan></text>",
            y - 10.0,
            escaped(panel.title)
        );
        y = body(&mut svg, panel, bars, left, y);
    }
    if is_noted {
        let _ = writeln!(svg, "<text class=\"quiet\" x=\"{MARGIN}\" y=\"{}\">{NOTE}</text>", y + STEP - 4.0);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the bars from `y` down and returns the position of their end.
fn body(svg: &mut String, panel: &Panel, bars: &[Bar], left: f64, mut y: f64) -> f64 {
    let room = WIDTH - left - FIGURES - MARGIN;
    let limit = limit(bars);
    let top = y;
    for bar in bars {
        let is_cut = bar.value > limit;
        let length = (bar.value.min(limit) / limit * room).max(1.0);
        // In a panel of ratios, every bar is ours, and the line marks the competitor.
        let class = if bar.ours || panel.better == Better::Ratio { "ours" } else { "rival" };
        let baseline = y + BAR - 4.0;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{}</text>\
             <rect class=\"{class}\" x=\"{left}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>",
            left - 8.0,
            escaped(&label(bar)),
        );
        if is_cut {
            let at = left + length - 24.0;
            let _ = writeln!(svg, "<path class=\"cut\" d=\"M{:.1} {:.1} l6 {}\"/>", at, y + BAR + 1.0, -BAR - 2.0);
        }
        let space = if panel.unit == "×" { "" } else { " " };
        let _ = writeln!(
            svg,
            "<text class=\"quiet\" x=\"{:.1}\" y=\"{baseline}\">{}{space}{}</text>",
            left + length + 6.0,
            escaped(&bar.text),
            panel.unit
        );
        y += STEP;
    }
    if panel.better == Better::Ratio && limit >= 1.0 {
        let x = left + room / limit;
        let _ = writeln!(
            svg,
            "<line class=\"one\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\"/>",
            top - 3.0,
            y - STEP + BAR + 3.0
        );
    }
    y
}

/// Returns the value at the right end of the scale: the largest one that is not cut.
fn limit(bars: &[Bar]) -> f64 {
    let mut values: Vec<f64> = bars.iter().map(|bar| bar.value).collect();
    values.sort_by(f64::total_cmp);
    let gap = values.windows(2).find(|pair| pair[1] > CUT * pair[0]);
    gap.map_or(values.last().copied().unwrap_or(1.0), |pair| pair[0])
}

fn label(bar: &Bar) -> String {
    format!("{}{}", bar.label, if bar.is_worse { WORSE } else { "" })
}

/// Describes the chart in words, for screen readers.
fn summary(chart: &Chart, panels: &[(&Panel, Vec<Bar>)]) -> String {
    let mut words = chart.title.to_owned();
    for (panel, bars) in panels {
        let bars: Vec<String> = bars.iter().map(|bar| format!("{} {}", bar.label, bar.text)).collect();
        let _ = write!(words, ". {} in {}: {}", panel.title, panel.unit, bars.join("; "));
    }
    words
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::Bars;
    use super::*;

    fn bar(label: &str, value: f64) -> Bar {
        Bar { label: label.into(), value, text: value.to_string(), ours: label == "ours", is_worse: false }
    }

    #[test]
    fn a_bar_far_longer_than_the_others_is_truncated_but_keeps_its_label() {
        let bars = vec![bar("ours", 1.0), bar("a", 2.0), bar("zarr", 2000.0)];
        assert!((limit(&bars) - 2.0).abs() < f64::EPSILON);
        let panel = Panel {
            title: "Get & put",
            section: "",
            bars: Bars::Row { label: "", without: "" },
            unit: "µs",
            better: Better::Lower,
        };
        let chart = Chart { page: "p", title: "T", panels: &[] };
        let svg = document(&chart, &[(&panel, bars)]);
        assert_eq!((svg.matches("class=\"cut\"").count(), svg.matches("2000 µs").count()), (1, 1), "{svg}");
        assert!(svg.contains("Get &amp; put") && svg.contains("class=\"ours\""));
    }
}
