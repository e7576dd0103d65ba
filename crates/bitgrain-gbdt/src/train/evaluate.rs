//! Evaluation of metrics during training.

use rayon::prelude::*;

use super::TrainError;
use super::trainer::{EvalSet, MetricValue};
use crate::Groups;
use crate::metric::{Metric, MetricInput};
use crate::model::Link;
use crate::predict::link::apply;

/// Rows that a thread converts at a time.
const CHUNK: usize = 8192;

/// Data that predictions are evaluated on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truth<'a> {
    pub(super) data: EvalSet,
    pub(super) targets: &'a [f64],
    pub(super) weights: Option<&'a [f32]>,
    pub(super) groups: Option<&'a Groups>,
}

/// Evaluates every metric on scores grouped by output. The scores equal those of the model bit by bit.
pub(super) fn evaluate(
    metrics: &[Box<dyn Metric>],
    link: Link,
    truth: &Truth<'_>,
    scores: Vec<f64>,
) -> Result<Vec<MetricValue>, TrainError> {
    if metrics.is_empty() {
        return Ok(Vec::new());
    }
    let predictions = linked(link, scores, truth.targets.len());
    let Truth { targets, weights, groups, .. } = *truth;
    let evaluated = MetricInput { targets, weights, predictions: &predictions, groups };
    let value = |metric: &dyn Metric| {
        // Evaluate before reading the name: a custom metric may set its name in the first evaluation.
        let value = metric.evaluate(&evaluated)?;
        Ok(MetricValue { data: truth.data, name: metric.name(), value })
    };
    metrics.iter().map(|metric| value(&**metric)).collect()
}

/// Applies the link function to scores grouped by output.
fn linked(link: Link, mut out: Vec<f64>, n_rows: usize) -> Vec<f64> {
    let outputs = out.len() / n_rows;
    if outputs == 1 {
        out.par_chunks_mut(CHUNK).for_each(|scores| match link {
            // The softmax of a single score is 1.
            Link::Softmax => scores.fill(1.0),
            link => apply(link, scores),
        });
        return out;
    }
    let mut of_row = vec![0.0; outputs];
    for row in 0..n_rows {
        of_row.iter_mut().enumerate().for_each(|(output, score)| *score = out[output * n_rows + row]);
        apply(link, &mut of_row);
        of_row.iter().enumerate().for_each(|(output, score)| out[output * n_rows + row] = *score);
    }
    out
}
