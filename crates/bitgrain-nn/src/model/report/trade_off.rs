//! Chart of size against quality: the plans of the first model, and the second model in comparison.

use std::fmt::Write as _;

use bitgrain_codec::weight::{WeightFormat, optimum};
use maud::{Markup, html};

use super::names::clean;
use super::number::Size;
use super::{Report, TradeOff};
use crate::model::compare::ModelComparison;
use crate::model::plan::{Point, PrecisionPlan};

/// Size of the drawing in SVG units, and the margins for its labels.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 42.0;
const TOP: f64 = 16.0;
const RIGHT: f64 = 24.0;

/// Maximum number of points drawn; the curve of a large model has one per tensor and format.
const POINTS: usize = 400;

pub(super) fn section(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Size and quality" }
            @match report.curve {
                TradeOff::Missing(reason) => p class="note" { "No curve: " (clean(reason)) "." },
                TradeOff::Measured { plan, candidates } => (measured(report.comparison, plan, candidates)),
            }
        }
    }
}

fn measured(comparison: &ModelComparison, plan: &PrecisionPlan, candidates: &[WeightFormat]) -> Markup {
    let drawn = downsample(&plan.curve);
    let names: Vec<String> = candidates.iter().map(ToString::to_string).collect();
    let here = second_point(comparison, plan);
    html! {
        @if drawn.len() < 2 {
            p class="note" { "No curve: the model has no weight matrices to plan." }
        } @else {
            p class="note" {
                "Error of the first model at other sizes, if each weight matrix gets the format that saves the most \
                 error per byte, measured in "
                (names.join(", ")) ". The error of each matrix is relative to its own values."
            }
            (drawing(&drawn, here))
            @if let Some(here) = here { p { (verdict(here, &plan.curve)) } }
        }
    }
}

/// Returns the second model's point on the plan's scale: only the planned matrices, each relative to its own values.
fn second_point(comparison: &ModelComparison, plan: &PrecisionPlan) -> Option<Point> {
    let (mut error, mut weights) = (0.0, 0.0);
    for row in comparison.tensors.iter().filter(|row| plan.formats.contains_key(&row.name)) {
        #[expect(clippy::cast_precision_loss, reason = "a weight in a mean")]
        let count = row.elements() as f64;
        error += row.figures.relative_rmse.powi(2) * count;
        weights += count;
    }
    let relative_rmse = (error / weights).sqrt();
    let point = Point { bytes: comparison.second_bytes, relative_rmse, expected_divergence: None };
    (point.relative_rmse > 0.0 && point.relative_rmse.is_finite()).then_some(point)
}

/// Describes how a model at `here` compares with the curve.
fn verdict(here: Point, curve: &[Point]) -> String {
    let reached = optimum::decibels(here.relative_rmse);
    let best = curve.iter().rev().find(|point| point.bytes <= here.bytes);
    let small = curve.iter().find(|point| point.relative_rmse <= here.relative_rmse);
    let mut text = format!("The second model has {reached:.1} dB in {}.", Size(here.bytes));
    if let Some(best) = best.filter(|best| best.relative_rmse > 0.0) {
        let _ = write!(text, " A plan of the same size reaches {:.1} dB.", optimum::decibels(best.relative_rmse));
    }
    if let Some(small) = small.filter(|small| small.bytes < here.bytes) {
        let _ = write!(text, " A plan of the same quality takes {}.", Size(small.bytes));
    }
    text
}

/// Keeps at most about [`POINTS`] points, including both ends. Points without error are dropped: their SNR is infinite.
fn downsample(curve: &[Point]) -> Vec<Point> {
    let lossy: Vec<Point> = curve.iter().copied().filter(|point| point.relative_rmse > 0.0).collect();
    let step = lossy.len().div_ceil(POINTS).max(1);
    let last = lossy.len().saturating_sub(1);
    lossy.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, point)| *point).collect()
}

#[expect(clippy::cast_precision_loss, reason = "bytes become coordinates")]
fn drawing(curve: &[Point], here: Option<Point>) -> Markup {
    let place = |point: &Point| (point.bytes as f64, optimum::decibels(point.relative_rmse));
    let all: Vec<(f64, f64)> = curve.iter().chain(&here).map(place).collect();
    let ends = |pick: fn(&(f64, f64)) -> f64| {
        let values = all.iter().map(pick);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)))
    };
    let (widest, highest) = (ends(|p| p.0).1, ends(|p| p.1));
    let (x_step, y_step) = (nice(widest / 6.0), nice((highest.1 - highest.0.min(0.0)) / 5.0));
    let (x_end, y_start) = (widest * 1.03, (highest.0.min(0.0) / y_step).floor() * y_step);
    let y_end = highest.1 + 0.06 * (highest.1 - y_start);
    let x = |bytes: f64| LEFT + (WIDTH - LEFT - RIGHT) * bytes / x_end;
    let y = |db: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (db - y_start) / (y_end - y_start);
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let line: Vec<String> =
        curve.iter().map(place).map(|(bytes, db)| format!("{:.1} {:.1}", x(bytes), y(db))).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size that is not negative")]
    let label = |tick: f64| if tick == 0.0 { "0".to_owned() } else { Size(tick as u64).to_string() };
    html! {
        div class="chart" {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="signal to noise by size" {
                @for tick in ticks(y_start, y_end, y_step) {
                    path class="grid" d=(format!("M{LEFT} {:.1}H{right}", y(tick))) {}
                    (text("end", LEFT - 8.0, y(tick) + 4.0, &tick.to_string()))
                }
                @for tick in ticks(0.0, x_end, x_step) {
                    path class="grid" d=(format!("M{:.1} {TOP}V{bottom}", x(tick))) {}
                    (text("middle", x(tick), bottom + 17.0, &label(tick)))
                }
                path class="curve" d=(format!("M{}", line.join("L"))) {}
                text x=(LEFT) y=(format!("{:.1}", HEIGHT - 4.0)) { "SNR in dB, by size of all tensors" }
                @if let Some((bytes, db)) = here.as_ref().map(place) {
                    circle class="here" cx=(format!("{:.1}", x(bytes))) cy=(format!("{:.1}", y(db))) r="5" {}
                    // The area below and to the right of the curve is free, except near the right edge.
                    @let (class, shift) = if x(bytes) > 0.7 * WIDTH { ("end here", -9.0) } else { ("here", 9.0) };
                    (text(class, x(bytes) + shift, y(db) + 17.0, "second model"))
                }
            }
        }
    }
}

/// Renders a label of the drawing.
fn text(class: &str, x: f64, y: f64, label: &str) -> Markup {
    html! { text class=(class) x=(format!("{x:.1}")) y=(format!("{y:.1}")) { (label) } }
}

/// Rounds a step up to the next 1, 2 or 5 times a power of ten.
fn nice(rough: f64) -> f64 {
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10.0_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough * 0.999).unwrap_or(rough)
}

fn ticks(start: f64, end: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..32_u32).map(move |i| start + f64::from(i) * step).take_while(move |tick| *tick <= end)
}
