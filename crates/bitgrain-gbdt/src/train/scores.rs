//! Raw scores of all rows, and gradients computed from them.

use std::ops::Range;

use bitgrain_kernels::histograms::PairF32;

use super::TrainError;
use super::team::Team;
use crate::feature::Features;
use crate::model::Model;
use crate::objective::{Batch, GradientBatch, Objective};
use crate::predict::Predictor;

/// Rows per gradient computation; their buffers fit in cache.
pub(super) const CHUNK: usize = 4096;

/// Number of chunks per task, which share their buffers.
const CHUNKS: usize = 4;

/// Largest magnitude of the gradients and hessians of an output.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Largest {
    pub(super) grad: f32,
    pub(super) hess: f32,
}

impl Largest {
    fn max(self, other: Self) -> Self {
        Self { grad: self.grad.max(other.grad), hess: self.hess.max(other.hess) }
    }
}

/// Maximum distance of f32 scores from the origin: sums of thousands of gradients stay finite.
const FARTHEST: f64 = 1e34;

/// Targets, weights and scores of a dataset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Targets relative to `origin`.
    pub(super) targets: &'a [f32],
    pub(super) weights: Option<&'a [f32]>,
    /// Scores grouped by output, as the model predicts them.
    pub(super) scores: &'a [f64],
    /// Constant near all targets that is subtracted before the conversion to f32, so that residuals keep their
    /// precision.
    pub(super) origin: f64,
}

/// Converts a score to the f32 that objectives get.
#[expect(clippy::cast_possible_truncation, reason = "objectives take f32")]
pub(super) fn relative(score: f64, origin: f64) -> f32 {
    (score - origin).clamp(-FARTHEST, FARTHEST) as f32
}

/// Writes the gradients of every row, grouped by output. Returns the largest of each output.
pub(super) fn gradients(
    team: &Team<'_>,
    objective: &dyn Objective,
    rows: Rows<'_>,
    round: usize,
    out: &mut [PairF32],
) -> Result<Vec<Largest>, TrainError> {
    let n_rows = rows.targets.len();
    let outputs = objective.n_outputs();
    let chunk = if objective.needs_all_rows() { n_rows } else { CHUNK };
    let mut columns: Vec<_> = out.chunks_mut(n_rows).map(|column| column.chunks_mut(chunk)).collect();
    let chunks: Vec<(usize, Vec<&mut [PairF32]>)> = (0..n_rows)
        .step_by(chunk)
        .map(|start| (start, columns.iter_mut().filter_map(Iterator::next).collect()))
        .collect();
    let one = |(start, out): (usize, Vec<&mut [PairF32]>)| {
        let mut buffers = Buffers::default();
        let len = chunk.min(n_rows - start);
        buffers.ask(objective, &rows, start..start + len);
        let write = |(output, out): (usize, &mut [PairF32])| {
            let (grads, hess) = buffers.output(output, len);
            out.iter_mut().zip(grads).zip(hess).for_each(|((out, &grad), &hess)| *out = PairF32 { grad, hess });
            largest(grads, hess).ok_or_else(|| invalid_gradient(grads, hess, round, |at| start + at))
        };
        out.into_iter().enumerate().map(write).collect::<Result<Vec<_>, _>>()
    };
    let more = |a: Vec<Largest>, b: Vec<Largest>| a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
    let none = vec![Largest::default(); outputs];
    // Reduce in order, so that the reported error is that of the first invalid row.
    team.map(chunks, one).into_iter().try_fold(none, |a, b| Ok(more(a, b?)))
}

/// Returns the largest gradient and hessian of all rows, for an objective of one output. `order` maps positions to
/// rows.
pub(super) fn largest_of(
    team: &Team<'_>,
    objective: &dyn Objective,
    rows: Rows<'_>,
    (round, order): (usize, &[u32]),
) -> Result<Largest, TrainError> {
    let starts: Vec<usize> = (0..rows.targets.len()).step_by(CHUNKS * CHUNK).collect();
    let one = |start: usize| {
        let mut buffers = Buffers::default();
        let end = rows.targets.len().min(start + CHUNKS * CHUNK);
        let mut all = Largest::default();
        for start in (start..end).step_by(CHUNK) {
            let end = end.min(start + CHUNK);
            buffers.ask(objective, &rows, start..end);
            let (grads, hess) = buffers.output(0, end - start);
            let largest = largest(grads, hess)
                .ok_or_else(|| invalid_gradient(grads, hess, round, |at| order[start + at] as usize))?;
            all = all.max(largest);
        }
        Ok::<_, TrainError>(all)
    };
    let largest = team.map(starts, one).into_iter().try_fold(Largest::default(), |a, b| Ok(a.max(b?)));
    largest.map_err(|error| first_invalid(objective, &rows, (round, order)).unwrap_or(error))
}

/// Positions whose gradients one task computes, from `first` on, and the output for each.
pub(super) struct Ask<'o, T> {
    pub(super) first: usize,
    pub(super) out: &'o mut [T],
}

/// Computes gradients one chunk at a time and passes them to `take`, for an objective of one output. `order` maps
/// positions to rows. Returns the results of each task in the order of its chunks.
pub(super) fn in_chunks<'o, T: Send, R: Send>(
    team: &Team<'_>,
    objective: &dyn Objective,
    rows: Rows<'_>,
    (round, order): (usize, &[u32]),
    asks: Vec<Ask<'o, T>>,
    take: impl Fn(usize, &[f32], &[f32], &mut [T]) -> R + Sync,
) -> Result<Vec<Vec<R>>, TrainError> {
    let one = |Ask { first, out }: Ask<'o, T>| {
        let mut buffers = Buffers::default();
        let mut results = Vec::with_capacity(out.len().div_ceil(CHUNK));
        for (chunk, out) in out.chunks_mut(CHUNK).enumerate() {
            let start = first + chunk * CHUNK;
            buffers.ask(objective, &rows, start..start + out.len());
            let (grads, hess) = buffers.output(0, out.len());
            if largest(grads, hess).is_none() {
                return Err(invalid_gradient(grads, hess, round, |at| order[start + at] as usize));
            }
            results.push(take(start, grads, hess, out));
        }
        Ok(results)
    };
    team.map(asks, one)
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|error| first_invalid(objective, &rows, (round, order)).unwrap_or(error))
}

/// Divides a column into tasks.
pub(super) fn asks<T>(out: &mut [T]) -> Vec<Ask<'_, T>> {
    out.chunks_mut(CHUNKS * CHUNK).enumerate().map(|(at, out)| Ask { first: at * CHUNKS * CHUNK, out }).collect()
}

/// Returns the error of the invalid row with the smallest index, independently of the current order of the rows.
fn first_invalid(objective: &dyn Objective, rows: &Rows<'_>, (round, order): (usize, &[u32])) -> Option<TrainError> {
    let mut buffers = Buffers::default();
    let mut first: Option<(u32, TrainError)> = None;
    for start in (0..order.len()).step_by(CHUNK) {
        let end = order.len().min(start + CHUNK);
        buffers.ask(objective, rows, start..end);
        let (grads, hess) = buffers.output(0, end - start);
        for ((grad, hess), &row) in grads.iter().zip(hess).zip(&order[start..end]) {
            if largest(&[*grad], &[*hess]).is_none() && first.as_ref().is_none_or(|(before, _)| row < *before) {
                let error = TrainError::Gradient { row: row as usize, grad: *grad, hess: *hess, round };
                first = Some((row, error));
            }
        }
    }
    first.map(|(_, error)| error)
}

/// Buffers of the gradients of a chunk.
#[derive(Debug, Default)]
struct Buffers {
    scores: Vec<f32>,
    grads: Vec<f32>,
    hess: Vec<f32>,
}

impl Buffers {
    /// Computes the gradients of a range of rows.
    fn ask(&mut self, objective: &dyn Objective, rows: &Rows<'_>, range: Range<usize>) {
        let (len, n_rows) = (range.len(), rows.targets.len());
        let outputs = rows.scores.len() / n_rows;
        self.scores.clear();
        for scores in rows.scores.chunks_exact(n_rows) {
            self.scores.extend(scores[range.clone()].iter().map(|&score| relative(score, rows.origin)));
        }
        self.grads.resize(len * outputs, 0.0);
        self.hess.resize(len * outputs, 0.0);
        let mut places =
            GradientBatch { grads: self.grads.chunks_mut(len).collect(), hess: self.hess.chunks_mut(len).collect() };
        let scores: Vec<&[f32]> = self.scores.chunks(len).collect();
        let weights = rows.weights.map(|weights| &weights[range.clone()]);
        objective.gradients(&Batch { targets: &rows.targets[range], weights, scores: &scores }, &mut places);
    }

    fn output(&self, output: usize, len: usize) -> (&[f32], &[f32]) {
        let place = output * len..(output + 1) * len;
        (&self.grads[place.clone()], &self.hess[place])
    }
}

/// Returns the largest magnitudes; `None` if a value is not finite or a hessian is negative.
fn largest(grads: &[f32], hess: &[f32]) -> Option<Largest> {
    let mut largest = Largest::default();
    // No early exit, so that the loop vectorizes; the invalid row is searched for only after a failure.
    let mut usable = true;
    for (&grad, &hess) in grads.iter().zip(hess) {
        let size = grad.abs();
        largest.grad = if size > largest.grad { size } else { largest.grad };
        largest.hess = if hess > largest.hess { hess } else { largest.hess };
        // Also false for NaN.
        usable &= (size < f32::INFINITY) & (0.0..f32::INFINITY).contains(&hess);
    }
    usable.then_some(largest)
}

fn invalid_gradient(grads: &[f32], hess: &[f32], round: usize, row: impl Fn(usize) -> usize) -> TrainError {
    let bad = |at: &usize| !(grads[*at].is_finite() && hess[*at].is_finite() && hess[*at] >= 0.0);
    let at = (0..grads.len()).find(bad).unwrap_or(0);
    TrainError::Gradient { row: row(at), grad: grads[at], hess: hess[at], round }
}

/// Returns the raw scores of a model, grouped by output.
pub(super) fn of_model(model: &Model, features: &Features<'_>) -> Result<Vec<f64>, TrainError> {
    let raw = Predictor::new(model).and_then(|predictor| predictor.raw(features));
    let raw = raw.map_err(|error| TrainError::Continue { reason: error.to_string() })?;
    let outputs = model.output.base_scores.len();
    let column = |output: usize| raw.iter().skip(output).step_by(outputs).copied();
    Ok((0..outputs).flat_map(column).collect())
}
