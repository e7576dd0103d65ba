//! Charts as inline SVG: axes, lines and areas.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::number::{float, short};

/// Margins for the labels, in SVG units.
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 44.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 16.0;

/// Maximum number of points of a line; more cannot be told apart.
const POINTS: usize = 400;

/// A drawing with two linear axes.
pub(super) struct Axes {
    x: (f64, f64),
    y: (f64, f64),
    width: f64,
    height: f64,
}

impl Axes {
    /// Creates axes of these ranges, widened if they are empty.
    pub(super) fn new(x: (f64, f64), y: (f64, f64)) -> Self {
        Self { x: wide(x), y: wide(y), width: 560.0, height: 320.0 }
    }

    /// Creates square axes from 0 to 1, for rates.
    pub(super) fn rates() -> Self {
        Self { x: (0.0, 1.0), y: (0.0, 1.0), width: 400.0, height: 380.0 }
    }

    /// Position of a value on the x axis.
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + (self.width - LEFT - RIGHT) * ((value - self.x.0) / (self.x.1 - self.x.0)).clamp(0.0, 1.0)
    }

    /// Position of a value on the y axis.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom() - (self.bottom() - TOP) * ((value - self.y.0) / (self.y.1 - self.y.0)).clamp(0.0, 1.0)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }

    /// Renders a drawing with a grid and labels around its content. `label` describes it for readers who cannot see it.
    pub(super) fn draw(&self, label: &str, names: (&str, &str), content: &Markup) -> Markup {
        let (right, bottom) = (self.width - RIGHT, self.bottom());
        html! {
            div class="chart" {
                svg viewBox=(format!("0 0 {} {}", self.width, self.height)) role="img" aria-label=(label) {
                    @for tick in ticks(self.y, 5) {
                        path class="grid" d=(format!("M{LEFT} {:.1}H{right}", self.y(tick))) {}
                        (text("end", LEFT - 7.0, self.y(tick) + 4.0, &tick_text(tick, self.y)))
                    }
                    @for tick in ticks(self.x, 5) {
                        path class="grid" d=(format!("M{:.1} {TOP}V{bottom}", self.x(tick))) {}
                        (text("middle", self.x(tick), bottom + 17.0, &tick_text(tick, self.x)))
                    }
                    (content)
                    (text("middle name", f64::midpoint(LEFT, right), self.height - 6.0, names.0))
                    text class="middle name" transform=(format!("translate(13 {:.1}) rotate(-90)", f64::midpoint(TOP, bottom)))
                        { (names.1) }
                }
            }
        }
    }

    /// Returns the path of a line. If there are many points, evenly spaced ones are kept.
    pub(super) fn line(&self, points: &[(f64, f64)]) -> String {
        let (step, last) = (points.len().div_ceil(POINTS).max(1), points.len().saturating_sub(1));
        let mut path = String::new();
        let mut pen = 'M';
        for (i, &(x, y)) in points.iter().enumerate() {
            if !x.is_finite() || !y.is_finite() {
                pen = 'M';
            } else if i % step == 0 || i == last {
                let _ = write!(path, "{pen}{:.1} {:.1}", self.x(x), self.y(y));
                pen = 'L';
            }
        }
        path
    }

    /// Returns the path of bars of equal width over the x axis.
    pub(super) fn bars(&self, heights: &[f64]) -> String {
        let step = (self.x.1 - self.x.0) / float(heights.len().max(1));
        let mut path = String::new();
        for (i, &height) in heights.iter().enumerate().filter(|(_, height)| **height > 0.0) {
            let (from, to) = (self.x.0 + step * float(i), self.x.0 + step * float(i + 1));
            let (left, right) = (self.x(from) + 0.5, self.x(to) - 0.5);
            let _ =
                write!(path, "M{left:.1} {:.1}V{:.1}H{right:.1}V{:.1}Z", self.bottom(), self.y(height), self.bottom());
        }
        path
    }
}

/// Renders a label of a drawing.
pub(super) fn text(class: &str, x: f64, y: f64, label: &str) -> Markup {
    html! { text class=(class) x=(format!("{x:.1}")) y=(format!("{y:.1}")) { (label) } }
}

/// Renders the names of lines next to their colors, which are classes of the style sheet.
pub(super) fn legend<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    html! {
        p class="legend" { @for (class, name) in entries { span { i class={ "key " (class) } {} (name) } } }
    }
}

/// Returns the range of finite values.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// Widens an empty or invalid range, and bounds the magnitude, so that differences are finite.
fn wide((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = (low.clamp(-1e300, 1e300), high.clamp(-1e300, 1e300));
    if high - low > 1e-12 * low.abs().max(high.abs()).max(1e-290) {
        return (low, high);
    }
    let margin = if low == 0.0 { 0.5 } else { 0.05 * low.abs() };
    (low - margin, high + margin)
}

/// Returns about `count` round numbers within a range.
fn ticks((low, high): (f64, f64), count: usize) -> Vec<f64> {
    let rough = (high - low) / float(count);
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(rough);
    if !(step > 0.0 && step.is_finite()) {
        return vec![low];
    }
    let first = (low / step - 1e-9).ceil();
    let tick = |i: u32| (first + f64::from(i)) * step;
    (0..20).map(tick).take_while(|tick| *tick <= high + 1e-9 * step).map(|tick| tick + 0.0).collect()
}

/// Formats a tick, with enough digits to tell neighbors apart.
fn tick_text(tick: f64, (low, high): (f64, f64)) -> String {
    let step = (high - low) / 5.0;
    if tick.abs() < 1e-9 * step {
        return "0".to_owned();
    }
    // Short labels leave room for the name of the axis.
    let (unit, suffix) = match low.abs().max(high.abs()) {
        1e4..1e6 if step >= 10.0 => (1e3, "k"),
        1e6..1e9 if step >= 1e4 => (1e6, "M"),
        _ => (1.0, ""),
    };
    let size = tick.abs().max(step);
    if unit == 1.0 && !(1e-4..1e6).contains(&size) {
        return format!("{tick:.1e}");
    }
    let step = step / unit;
    let decimals = (0..8_usize).find(|&decimals| step * 10_f64.powf(float(decimals)) >= 0.999).unwrap_or(8);
    let text = format!("{:.decimals$}{suffix}", tick / unit);
    if text.len() > 8 { short(tick) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        assert_eq!(ticks((0.0, 1.0), 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks((-3.0, 12.0), 5), [0.0, 5.0, 10.0]);
        for range in [(0.0, 1e-300), (-1e300, 1e300), (1e15, 1e15 + 10.0), (5.0, 5.0)] {
            let range = wide(range);
            let found = ticks(range, 5);
            assert!(!found.is_empty() && found.len() < 20, "{range:?}: {found:?}");
            assert!(found.iter().all(|&tick| tick_text(tick, range).len() <= 10), "{range:?}");
        }
    }

    #[test]
    fn large_ticks_are_in_thousands_or_millions() {
        let texts = |range| ticks(range, 5).into_iter().map(|tick| tick_text(tick, range)).collect::<Vec<_>>();
        assert_eq!(texts((-120_000.0, 210_000.0)), ["-100k", "0", "100k", "200k"]);
        assert_eq!(texts((0.0, 20_000.0)), ["0", "5k", "10k", "15k", "20k"]);
        assert_eq!(texts((0.0, 5e6)), ["0", "1M", "2M", "3M", "4M", "5M"]);
        assert_eq!(texts((0.0, 8000.0)), ["0", "2000", "4000", "6000", "8000"]);
        assert_eq!(texts((1e5, 1e5 + 4.0)).last().map(String::as_str), Some("100004.0"));
    }

    #[test]
    fn lines_skip_values_that_are_not_finite() {
        let axes = Axes::rates();
        let path = axes.line(&[(0.0, 0.0), (0.5, f64::NAN), (1.0, 1.0)]);
        assert_eq!(path.matches('M').count(), 2);
        assert!(!path.contains("NaN"));
        assert_eq!(range([f64::NAN, f64::INFINITY]), (0.0, 1.0));
    }
}
