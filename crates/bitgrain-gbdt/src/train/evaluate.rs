//! Metrics of predictions in training.

use super::TrainError;
use super::trainer::{Data, MetricValue};
use crate::metric::{Evaluated, Metric};
use crate::model::Link;

/// Data to measure predictions on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truth<'a> {
    pub(super) data: Data,
    pub(super) targets: &'a [f32],
    pub(super) weights: Option<&'a [f32]>,
}

/// Every metric of the scores of all rows, which lie group after group.
pub(super) fn evaluate(
    metrics: &[Box<dyn Metric>],
    link: Link,
    truth: &Truth<'_>,
    scores: &[f32],
) -> Result<Vec<MetricValue>, TrainError> {
    if metrics.is_empty() {
        return Ok(Vec::new());
    }
    let predictions = linked(link, scores, truth.targets.len());
    let evaluated = Evaluated { targets: truth.targets, weights: truth.weights, predictions: &predictions };
    let value = |metric: &Box<dyn Metric>| {
        Ok(MetricValue { data: truth.data, name: metric.name(), value: metric.evaluate(&evaluated)? })
    };
    metrics.iter().map(value).collect()
}

/// Predictions of scores, group after group.
fn linked(link: Link, scores: &[f32], n_rows: usize) -> Vec<f64> {
    let mut out: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
    match link {
        Link::Identity => {}
        Link::Logistic { slope } => out.iter_mut().for_each(|score| *score = 1.0 / (1.0 + (-slope * *score).exp())),
        Link::Exponential => out.iter_mut().for_each(|score| *score = score.exp()),
        Link::Softmax => softmax(&mut out, n_rows),
    }
    out
}

fn softmax(scores: &mut [f64], n_rows: usize) {
    let groups = scores.len() / n_rows;
    for row in 0..n_rows {
        let places = || (0..groups).map(|group| group * n_rows + row);
        let highest = places().fold(f64::NEG_INFINITY, |highest, at| highest.max(scores[at]));
        let mut total = 0.0;
        for at in places() {
            scores[at] = (scores[at] - highest).exp();
            total += scores[at];
        }
        places().for_each(|at| scores[at] /= total);
    }
}
