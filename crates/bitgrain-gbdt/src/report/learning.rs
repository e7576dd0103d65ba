//! Learning curves: metrics after each round.

use maud::{Markup, html};

use super::chart::{Axes, legend, range};
use super::number::{clean, float, short};
use crate::train::MetricValue;

/// A metric after each round.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the dataset, such as `train`.
    pub data: String,
    /// Name of the metric.
    pub metric: String,
    /// Value after each round.
    pub values: Vec<f64>,
}

/// Converts the history of a training to curves.
#[must_use]
pub fn curves(history: &[Vec<MetricValue>]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for MetricValue { data, name, value } in history.iter().flatten() {
        let data = data.to_string();
        match curves.iter_mut().find(|curve| curve.data == data && curve.metric == *name) {
            Some(curve) => curve.values.push(*value),
            None => curves.push(Curve { data, metric: name.clone(), values: vec![*value] }),
        }
    }
    curves
}

/// Classes of the colors; the training data is gray.
const COLORS: [&str; 4] = ["f0", "f1", "f2", "f3"];

pub(super) fn section(curves: &[Curve], best_round: Option<usize>) -> Markup {
    let mut metrics: Vec<&str> = Vec::new();
    for curve in curves.iter().filter(|curve| !curve.values.is_empty()) {
        if !metrics.contains(&curve.metric.as_str()) {
            metrics.push(&curve.metric);
        }
    }
    html! {
        @if !metrics.is_empty() {
            section {
                h2 { "Learning curves" }
                div class="charts" {
                    @for metric in metrics {
                        (chart(metric, curves.iter().filter(|curve| curve.metric == metric), best_round))
                    }
                }
            }
        }
    }
}

fn chart<'a>(metric: &str, curves: impl Iterator<Item = &'a Curve>, best_round: Option<usize>) -> Markup {
    let mut colors = COLORS.iter().cycle();
    let mut drawn: Vec<(&str, &Curve)> = Vec::new();
    for curve in curves {
        let class = if curve.data == "train" { "gray" } else { colors.next().copied().unwrap_or("f0") };
        drawn.push((class, curve));
    }
    let rounds = drawn.iter().map(|(_, curve)| curve.values.len()).max().unwrap_or(1);
    let axes = Axes::new((1.0, float(rounds)), range(drawn.iter().flat_map(|(_, curve)| curve.values.iter().copied())));
    let points = |curve: &Curve| -> Vec<(f64, f64)> {
        curve.values.iter().enumerate().map(|(round, &value)| (float(round + 1), value)).collect()
    };
    let ends: Vec<String> = drawn
        .iter()
        .map(|(_, curve)| format!("{} {}", clean(&curve.data), short(curve.values.last().copied().unwrap_or(f64::NAN))))
        .collect();
    let label = format!("{metric} over {rounds} rounds; after the last round: {}", ends.join(", "));
    let content = html! {
        @if let Some(best) = best_round.filter(|best| *best < rounds) {
            path class="mark" d=(format!("M{:.1} 12V{:.1}", axes.x(float(best + 1)), axes.bottom())) {}
        }
        @for (class, curve) in &drawn { path class={ "line " (class) } d=(axes.line(&points(curve))) {} }
    };
    let best = best_round.map(|best| ("mark", format!("best round: {}", best + 1)));
    let names = drawn.iter().zip(&ends).map(|((class, _), end)| (*class, end.clone()));
    html! {
        figure {
            figcaption { (clean(metric)) }
            (axes.draw(&label, ("round", ""), &content))
            (legend(names.chain(best)))
        }
    }
}
