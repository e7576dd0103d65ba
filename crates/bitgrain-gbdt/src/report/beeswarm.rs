//! Distribution of SHAP values: one line of points per feature, colored by the value of the feature.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::chart::{range, text};
use super::number::{clean, float, short};
use super::rows::{Rows, evenly};
use super::shap::Shap;
use crate::model::{InputKind, Model};

/// Maximum number of points per feature; more overlap and make the file large.
const POINTS: usize = 300;

/// Size of the drawing in SVG units: each feature has a name above its points, so that long names fit a phone.
const WIDTH: f64 = 640.0;
const LINE: f64 = 52.0;
const NAME: f64 = 15.0;
const MARGIN: f64 = 14.0;

/// Steps of the color scale from low to high values; the style sheet has a class for each.
const STEPS: usize = 8;

/// Number of columns in which points are stacked.
const COLUMNS: usize = 150;

pub(super) fn drawing(model: &Model, shap: &Shap, rows: &Rows, shown: &[usize]) -> Markup {
    let points = evenly(shap.chosen.len(), POINTS);
    let contributions: Vec<Vec<f64>> = shown
        .iter()
        .map(|&feature| {
            let all: Vec<f64> = shap.column(0, feature).collect();
            points.iter().map(|&at| all[at]).collect()
        })
        .collect();
    let (low, high) = range(contributions.iter().flatten().copied().chain([0.0]));
    let spread = (high - low).max(f64::MIN_POSITIVE);
    let x = |value: f64| MARGIN + (WIDTH - 2.0 * MARGIN) * (value - low) / spread;
    let height = LINE * float(shown.len()) + 40.0;
    let bottom = height - 26.0;
    html! {
        div class="chart wide" {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
                aria-label=(format!("distribution of the SHAP values of {} features; the table above lists their means", shown.len()))
            {
                path class="mark" d=(format!("M{:.1} 0V{bottom}", x(0.0))) {}
                @for (line, &feature) in shown.iter().enumerate() {
                    @let top = LINE * float(line);
                    (text("name", MARGIN, top + NAME, &clean(&model.inputs[feature].name)))
                    @let values: Vec<f64> = points.iter().map(|&at| rows.column(feature)[shap.chosen[at]]).collect();
                    @let is_category = matches!(model.inputs[feature].kind, InputKind::Categorical { .. });
                    @for (class, path) in swarm(&contributions[line], &shades(&values, is_category), top + NAME + 20.0, &x) {
                        path class={ "dots " (class) } d=(path) {}
                    }
                }
                @for (class, at) in [("", low), ("end", high)] { (text(class, x(at), height - 8.0, &short(at))) }
                @if x(0.0) > 110.0 && x(0.0) < WIDTH - 110.0 { (text("middle", x(0.0), height - 8.0, "0")) }
            }
        }
        p class="legend" {
            span { "value of the feature: low" @for step in 0..STEPS { i class={ "key v" (step) } {} } "high" }
            span { i class="key gray" {} "missing" }
            span { i class="key f2" {} "category" }
        }
    }
}

/// Returns the class of each point: its rank among the values, missing, or a category.
fn shades(values: &[f64], is_category: bool) -> Vec<String> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let shade = |&value: &f64| {
        if value.is_nan() {
            return "gray".to_owned();
        }
        if is_category {
            return "f2".to_owned();
        }
        let (below, above) = (sorted.partition_point(|v| *v < value), sorted.partition_point(|v| *v <= value));
        // The middle of equal values, so that two values are colored low and high.
        let step = (below + above) * STEPS / (2 * sorted.len()).max(1);
        format!("v{}", step.min(STEPS - 1))
    };
    values.iter().map(shade).collect()
}

/// Places points with similar contributions on top of each other around `middle`; one path per class.
fn swarm<'a>(
    contributions: &[f64],
    shades: &'a [String],
    middle: f64,
    x: &impl Fn(f64) -> f64,
) -> Vec<(&'a str, String)> {
    let mut stacked = vec![0_u32; COLUMNS + 1];
    let mut paths: Vec<(&str, String)> = Vec::new();
    for (&value, shade) in contributions.iter().zip(shades).filter(|(value, _)| value.is_finite()) {
        let at = x(value);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position within the drawing")]
        let column = (at / WIDTH * float(COLUMNS)) as usize;
        let count = &mut stacked[column.min(COLUMNS)];
        // Alternately above and below the middle; high stacks fold back, so that they stay on their line.
        let step = f64::from(count.div_ceil(2) % 8) * 2.1;
        let y = if count.is_multiple_of(2) { middle - step } else { middle + step };
        *count += 1;
        let place = match paths.iter().position(|(class, _)| class == shade) {
            Some(place) => place,
            None => {
                paths.push((shade, String::new()));
                paths.len() - 1
            }
        };
        // A line of length 0 with round caps is a dot, which takes fewer bytes than a circle.
        let _ = write!(paths[place].1, "M{at:.1} {y:.1}h0");
    }
    paths
}
