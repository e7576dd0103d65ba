//! Numbers: predictions against targets, residuals, calibration.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::chart::{Axes, legend, range};
use super::number::{float, percent, short};
use super::quality::Evaluated;
use crate::explain::quantile;

/// Up to this number of rows, each is a point; more are counted in cells.
const MAX_POINTS: usize = 600;

/// Cells along each axis, and bars of a histogram.
const CELLS: usize = 40;
const BARS: usize = 40;

/// Number of bins of the calibration curve.
const BINS: usize = 10;

/// Shades of cells.
const SHADES: usize = 6;

pub(super) fn charts(evaluated: &Evaluated<'_>) -> Markup {
    let rows = evaluated.rows;
    let pairs: Vec<(f64, f64)> = evaluated.predictions.iter().copied().zip(rows.targets.iter().copied()).collect();
    let residuals: Vec<f64> = pairs.iter().map(|(predicted, actual)| actual - predicted).collect();
    let objective = evaluated.model.output.objective.as_str();
    let below: f64 = (0..rows.n_rows).filter(|&row| residuals[row] <= 0.0).map(|row| rows.weight(row)).sum();
    let total: f64 = (0..rows.n_rows).map(|row| rows.weight(row)).sum();
    html! {
        @if objective.starts_with("quantile") {
            p { (percent(below / total)) " of the targets are at most the predicted quantile (objective " code { (objective) } ")." }
        }
        div class="charts" {
            (scatter(&pairs))
            (histogram(&residuals))
            (calibration(&pairs, evaluated))
        }
    }
}

/// Renders predictions against targets, without the outermost 0.5 % of each.
fn scatter(pairs: &[(f64, f64)]) -> Markup {
    let middle = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        if values.len() <= MAX_POINTS {
            range(values.iter().copied())
        } else {
            (quantile(values, 0.005), quantile(values, 0.995))
        }
    };
    let x = middle(&mut pairs.iter().map(|pair| pair.0).collect());
    let y = middle(&mut pairs.iter().map(|pair| pair.1).collect());
    let axes = Axes::new(x, y);
    let (low, high) = (x.0.max(y.0), x.1.min(y.1));
    let content = html! {
        @if pairs.len() <= MAX_POINTS {
            @for (predicted, actual) in pairs {
                circle class="point f0" cx=(format!("{:.1}", axes.x(*predicted))) cy=(format!("{:.1}", axes.y(*actual))) r="2.6" {}
            }
        } @else {
            @for (shade, path) in cells(pairs, &axes, x, y).iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                path class={ "cell s" (shade) } d=(path) {}
            }
        }
        @if low < high { path class="mark" d=(axes.line(&[(low, low), (high, high)])) {} }
    };
    html! {
        figure {
            figcaption { "Targets and predictions" }
            (axes.draw(&format!("targets against predictions of {} rows", pairs.len()), ("predicted", "actual"), &content))
            (legend([("mark", "perfect prediction".to_owned())]))
        }
    }
}

/// Counts pairs in a grid of cells, and returns a path per shade.
fn cells(pairs: &[(f64, f64)], axes: &Axes, x: (f64, f64), y: (f64, f64)) -> Vec<String> {
    let cell = |value: f64, (low, high): (f64, f64)| {
        let place = (value - low) / (high - low).max(f64::MIN_POSITIVE) * float(CELLS);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and below the cells"
        )]
        let index = if place >= 0.0 && place <= float(CELLS) { Some((place as usize).min(CELLS - 1)) } else { None };
        index
    };
    let mut counts = vec![0_usize; CELLS * CELLS];
    for (predicted, actual) in pairs {
        if let (Some(column), Some(row)) = (cell(*predicted, x), cell(*actual, y)) {
            counts[row * CELLS + column] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut paths = vec![String::new(); SHADES];
    let edge = |at: usize, (low, high): (f64, f64)| low + (high - low) * float(at) / float(CELLS);
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Logarithmic shades, so that sparse regions are visible.
        let share = float(count).ln_1p() / float(most).ln_1p();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the shades")]
        let shade = ((share * float(SHADES)) as usize).min(SHADES - 1);
        let (row, column) = (at / CELLS, at % CELLS);
        let (left, right) = (axes.x(edge(column, x)), axes.x(edge(column + 1, x)));
        let (bottom, top) = (axes.y(edge(row, y)), axes.y(edge(row + 1, y)));
        let _ = write!(paths[shade], "M{left:.1} {bottom:.1}H{right:.1}V{top:.1}H{left:.1}Z");
    }
    paths
}

fn histogram(residuals: &[f64]) -> Markup {
    let mut sorted = residuals.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ends = if sorted.len() <= MAX_POINTS {
        range(sorted.iter().copied())
    } else {
        (quantile(&sorted, 0.005), quantile(&sorted, 0.995))
    };
    let median = quantile(&sorted, 0.5);
    let middle = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let mut counts = vec![0.0; BARS];
    for residual in &sorted {
        let place = (residual - ends.0) / (ends.1 - ends.0).max(f64::MIN_POSITIVE) * float(BARS);
        if place >= 0.0 && place <= float(BARS) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and below the bars"
            )]
            let bar = (place as usize).min(BARS - 1);
            counts[bar] += 1.0;
        }
    }
    let axes = Axes::new(ends, (0.0, counts.iter().fold(1.0, |a: f64, &b| a.max(b)) * 1.05));
    let label =
        format!("residuals: median {}, middle half from {} to {}", short(median), short(middle.0), short(middle.1));
    let content = html! {
        path class="area f0" d=(axes.bars(&counts)) {}
        path class="mark" d=(format!("M{:.1} 12V{:.1}", axes.x(0.0), axes.bottom())) {}
    };
    html! {
        figure {
            figcaption { "Residuals" }
            (axes.draw(&label, ("actual minus predicted", "rows"), &content))
            (legend([("f0", format!("median {}, middle half {} to {}", short(median), short(middle.0), short(middle.1)))]))
        }
    }
}

fn calibration(pairs: &[(f64, f64)], evaluated: &Evaluated<'_>) -> Markup {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| pairs[a].0.total_cmp(&pairs[b].0));
    let mean = |bin: &[usize]| {
        let weight: f64 = bin.iter().map(|&row| evaluated.rows.weight(row)).sum();
        let sum = |pick: fn((f64, f64)) -> f64| {
            bin.iter().map(|&row| evaluated.rows.weight(row) * pick(pairs[row])).sum::<f64>() / weight
        };
        (sum(|pair| pair.0), sum(|pair| pair.1))
    };
    let points: Vec<(f64, f64)> = order.chunks(order.len().div_ceil(BINS).max(1)).map(mean).collect();
    let both = range(points.iter().flat_map(|(x, y)| [*x, *y]));
    let axes = Axes::new(both, both);
    let content = html! {
        path class="mark" d=(axes.line(&[(both.0, both.0), (both.1, both.1)])) {}
        path class="line f0" d=(axes.line(&points)) {}
        @for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            circle class="f0" cx=(format!("{:.1}", axes.x(*x))) cy=(format!("{:.1}", axes.y(*y))) r="3.5" {}
        }
    };
    html! {
        figure {
            figcaption { "Calibration" }
            (axes.draw(&format!("mean target in {} bins of predictions", points.len()), ("mean prediction", "mean target"), &content))
            (legend([("f0", format!("{} bins of equal size", points.len())), ("mark", "ideal".to_owned())]))
        }
    }
}
