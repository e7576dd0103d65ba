//! Metrics of the rows of each query, in the order of their predictions.

use rayon::prelude::*;

use super::ranking::ordered;
use super::{MetricError, MetricInput};
use crate::samples::{check_weights, invalid_target};
use crate::{Groups, SampleError};

/// Queries that a thread evaluates at a time.
const CHUNK: usize = 64;

/// Labels of a query, highest prediction first, and scratch.
#[derive(Debug, Default)]
pub(super) struct RankedLabels {
    order: Vec<(u64, u32)>,
    labels: Vec<f64>,
    pub(super) counts: Vec<usize>,
}

impl RankedLabels {
    /// Label of each rank.
    pub(super) fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Number of relevant rows among the first `ranks`.
    pub(super) fn hits(&self, ranks: usize) -> usize {
        self.labels.iter().take(ranks).filter(|label| **label > 0.0).count()
    }

    /// Rows of equal prediction keep their order, as in LightGBM.
    fn rank(&mut self, targets: &[f64], predictions: &[f64]) {
        self.order.clear();
        self.order.extend(predictions.iter().zip(0..).map(|(&prediction, row)| (!ordered(prediction), row)));
        self.order.sort_unstable();
        self.labels.clear();
        self.labels.extend(self.order.iter().map(|&(_, row)| targets[row as usize]));
    }
}

/// Returns the mean of a value over the queries; each weighs as much as the mean of its rows.
pub(super) fn mean_over_queries(
    data: &MetricInput<'_>,
    metric: impl Fn() -> String,
    takes: &'static str,
    is_label: impl Fn(f64) -> bool + Sync,
    value: impl Fn(&mut RankedLabels) -> f64 + Sync,
) -> Result<f64, MetricError> {
    data.check(1)?;
    let groups = groups_of(data, &metric)?;
    if let Some(weights) = data.weights {
        check_weights(weights, data.targets.len())?;
    }
    let is_valid = |row: &usize| is_label(data.targets[*row]) && !data.predictions[*row].is_nan();
    if let Some(row) = (0..data.targets.len()).find(|row| !is_valid(row)) {
        let (target, prediction) = (data.targets[row], data.predictions[row]);
        let metric = metric();
        return Err(invalid_target(row, target, || MetricError::Row { row, target, prediction, metric, takes }));
    }
    let of_query = |group: usize, ranked: &mut RankedLabels| {
        let rows = groups.range(group);
        #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
        let count = rows.len() as f64;
        let weight = data
            .weights
            .map_or(1.0, |weights| weights[rows.clone()].iter().map(|&weight| f64::from(weight)).sum::<f64>() / count);
        if weight == 0.0 {
            return (0.0, 0.0);
        }
        ranked.rank(&data.targets[rows.clone()], &data.predictions[rows]);
        (weight * value(ranked), weight)
    };
    let starts: Vec<usize> = (0..groups.len()).step_by(CHUNK).collect();
    let of_chunk = |&start: &usize| {
        let mut ranked = RankedLabels::default();
        let chunk = start..groups.len().min(start + CHUNK);
        chunk.fold((0.0, 0.0), |(sum, total), group| {
            let (value, weight) = of_query(group, &mut ranked);
            (sum + value, total + weight)
        })
    };
    // Partial sums are added in order, so that the result does not depend on the number of threads.
    let parts: Vec<(f64, f64)> = starts.par_iter().map(of_chunk).collect();
    let (sum, total) = parts.into_iter().fold((0.0, 0.0), |(sum, total), (part, weight)| (sum + part, total + weight));
    if total > 0.0 { Ok(sum / total) } else { Err(SampleError::NoWeight.into()) }
}

fn groups_of<'a>(data: &MetricInput<'a>, metric: impl Fn() -> String) -> Result<&'a Groups, MetricError> {
    let groups = data.groups.ok_or_else(|| MetricError::NoGroups { metric: metric() })?;
    if groups.n_rows() == data.targets.len() {
        return Ok(groups);
    }
    Err(MetricError::GroupRows { grouped: groups.n_rows(), rows: data.targets.len() })
}
