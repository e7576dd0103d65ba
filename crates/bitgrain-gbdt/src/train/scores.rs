//! Raw scores of all rows, and what the objective says of them.

use bitgrain_kernels::PairF32;
use rayon::prelude::*;

use super::TrainError;
use crate::feature::Features;
use crate::model::Model;
use crate::objective::{Batch, GradientBatch, Objective};
use crate::predict::Predictor;

/// Rows whose gradients are asked for at a time: what they need stays in cache.
const CHUNK: usize = 4096;

/// The largest gradient and hessian of a group.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Largest {
    pub(super) grad: f32,
    pub(super) hess: f32,
}

/// Targets, weights and scores of the rows of a dataset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) targets: &'a [f32],
    pub(super) weights: Option<&'a [f32]>,
    /// Group after group.
    pub(super) scores: &'a [f32],
}

/// Writes the gradients of every row, group after group; the largest of each group come back.
pub(super) fn gradients(
    objective: &dyn Objective,
    rows: Rows<'_>,
    round: usize,
    out: &mut [PairF32],
) -> Result<Vec<Largest>, TrainError> {
    let n_rows = rows.targets.len();
    let groups = objective.n_groups();
    let mut columns: Vec<_> = out.chunks_mut(n_rows).map(|column| column.chunks_mut(CHUNK)).collect();
    let chunks: Vec<(usize, Vec<&mut [PairF32]>)> = (0..n_rows)
        .step_by(CHUNK)
        .map(|start| (start, columns.iter_mut().filter_map(Iterator::next).collect()))
        .collect();
    let one = |(start, out): (usize, Vec<&mut [PairF32]>)| of_chunk(objective, &rows, start, out, round);
    let largest = |a: Vec<Largest>, b: Vec<Largest>| -> Vec<Largest> {
        let more = |(a, b): (&Largest, &Largest)| Largest { grad: a.grad.max(b.grad), hess: a.hess.max(b.hess) };
        a.iter().zip(&b).map(more).collect()
    };
    chunks.into_par_iter().map(one).try_reduce(|| vec![Largest::default(); groups], |a, b| Ok(largest(a, b)))
}

fn of_chunk(
    objective: &dyn Objective,
    rows: &Rows<'_>,
    start: usize,
    out: Vec<&mut [PairF32]>,
    round: usize,
) -> Result<Vec<Largest>, TrainError> {
    let n_rows = rows.targets.len();
    let len = CHUNK.min(n_rows - start);
    let scores: Vec<&[f32]> = (0..out.len()).map(|group| &rows.scores[group * n_rows + start..][..len]).collect();
    let batch = Batch {
        targets: &rows.targets[start..start + len],
        weights: rows.weights.map(|weights| &weights[start..start + len]),
        scores: &scores,
    };
    let mut grads = vec![0.0; len * out.len()];
    let mut hess = vec![0.0; len * out.len()];
    let mut places = GradientBatch { grads: grads.chunks_mut(len).collect(), hess: hess.chunks_mut(len).collect() };
    objective.gradients(&batch, &mut places);
    let mut all = Vec::with_capacity(out.len());
    for ((out, grads), hess) in out.into_iter().zip(grads.chunks(len)).zip(hess.chunks(len)) {
        let mut largest = Largest::default();
        let mut usable = true;
        for ((out, &grad), &hess) in out.iter_mut().zip(grads).zip(hess) {
            *out = PairF32 { grad, hess };
            let size = grad.abs();
            largest.grad = if size > largest.grad { size } else { largest.grad };
            largest.hess = if hess > largest.hess { hess } else { largest.hess };
            // False for NaN, too.
            usable &= size < f32::INFINITY && hess >= 0.0 && hess < f32::INFINITY;
        }
        if !usable {
            let bad = |at: &usize| !(grads[*at].is_finite() && hess[*at].is_finite() && hess[*at] >= 0.0);
            let at = (0..len).find(bad).unwrap_or(0);
            return Err(TrainError::Gradient { row: start + at, grad: grads[at], hess: hess[at], round });
        }
        all.push(largest);
    }
    Ok(all)
}

/// The raw scores of a model, group after group.
#[expect(clippy::cast_possible_truncation, reason = "scores are f32 in training")]
pub(super) fn of_model(model: &Model, features: &Features<'_>) -> Result<Vec<f32>, TrainError> {
    let raw = Predictor::new(model).and_then(|predictor| predictor.raw(features));
    let raw = raw.map_err(|error| TrainError::Continue { reason: error.to_string() })?;
    let groups = model.output.base_scores.len();
    let column = |group: usize| raw.iter().skip(group).step_by(groups).map(|&score| score as f32);
    Ok((0..groups).flat_map(column).collect())
}
