//! Raw scores of all rows, and gradients computed from them.

use std::ops::Range;

use bitgrain_kernels::histograms::PairF32;

use super::TrainError;
use super::row_column::taken;
use super::team::Team;
use super::usage::Phase;
use crate::Groups;
use crate::feature::Features;
use crate::model::{Model, Output};
use crate::objective::{Batch, GradientBatch, Objective, QueryBatch};
use crate::predict::Predictor;

/// Rows per gradient computation; their buffers fit in cache.
pub(super) const CHUNK: usize = 4096;

/// Maximum number of chunks per task, which share their buffers.
const CHUNKS: usize = 4;

/// Minimum number of tasks of a table with as many chunks, so that threads get equal shares.
const TASKS: usize = 16;

/// Minimum number of rows of whole queries per task: pairs of rows cost far more than rows.
const QUERY_ROWS: usize = 512;

/// Largest magnitude of the gradients and hessians of an output.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Largest {
    pub(super) grad: f32,
    pub(super) hess: f32,
}

impl Largest {
    pub(super) fn max(self, other: Self) -> Self {
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
    groups: Option<&Groups>,
    round: usize,
    out: &mut [PairF32],
) -> Result<Vec<Largest>, TrainError> {
    let n_rows = rows.targets.len();
    let outputs = objective.n_outputs();
    let chunk = if objective.needs_all_rows() { n_rows } else { CHUNK };
    let parts = match groups {
        Some(groups) => query_parts(groups, round),
        None => (0..n_rows).step_by(chunk).map(|start| (start..n_rows.min(start + chunk), None)).collect(),
    };
    let mut columns: Vec<&mut [PairF32]> = out.chunks_mut(n_rows.max(1)).collect();
    type Part<'a, 'g> = (Range<usize>, Option<QueryBatch<'g>>, Vec<&'a mut [PairF32]>);
    let chunks: Vec<Part<'_, '_>> = parts
        .into_iter()
        .map(|(part, queries)| {
            let of_part = columns.iter_mut().map(|column| taken(column, 0, part.len())).collect();
            (part, queries, of_part)
        })
        .collect();
    let one = |(part, queries, out): Part<'_, '_>| {
        let mut buffers = Buffers::default();
        let (start, len) = (part.start, part.len());
        buffers.ask(objective, &rows, part, queries);
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
    team.map(Phase::Gradients, chunks, one).into_iter().try_fold(none, |a, b| Ok(more(a, b?)))
}

/// Divides queries into parts of about equal size.
fn query_parts(groups: &Groups, round: usize) -> Vec<(Range<usize>, Option<QueryBatch<'_>>)> {
    let mut parts = Vec::new();
    let mut first = 0;
    for (group, rows) in groups.ranges().enumerate() {
        let start = groups.range(first).start;
        if rows.end - start >= QUERY_ROWS || group + 1 == groups.len() {
            parts.push((start..rows.end, Some(QueryBatch { groups, first, len: group + 1 - first, round })));
            first = group + 1;
        }
    }
    parts
}

/// Source of the scores of one task.
pub(super) trait TaskScores: Send {
    /// Returns the scores of a range, relative to the first position of the task. Called once per position.
    fn chunk(&mut self, range: Range<usize>) -> &[f64];
}

impl TaskScores for &[f64] {
    fn chunk(&mut self, range: Range<usize>) -> &[f64] {
        &self[range]
    }
}

/// Values that the last tree adds to the scores: ranges of positions in ascending order, without gaps.
#[derive(Debug, Default)]
pub(super) struct Pending(Vec<(Range<usize>, f64)>);

impl Pending {
    /// Takes the positions and the value of each leaf.
    pub(super) fn new(leaves: impl Iterator<Item = (Range<usize>, f64)>) -> Self {
        let mut leaves: Vec<_> = leaves.filter(|(rows, _)| !rows.is_empty()).collect();
        leaves.sort_unstable_by_key(|(rows, _)| rows.start);
        Self(leaves)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the values to the scores of the positions from `first` on.
    pub(super) fn add_to(&self, first: usize, scores: &mut [f64]) {
        let end = first + scores.len();
        let from = self.0.partition_point(|(rows, _)| rows.end <= first);
        for (rows, value) in self.0[from..].iter().take_while(|(rows, _)| rows.start < end) {
            let of_leaf = rows.start.max(first) - first..rows.end.min(end) - first;
            scores[of_leaf].iter_mut().for_each(|score| *score += value);
        }
    }
}

/// Scores to which the last tree is added when they are first read, which saves a pass over all rows.
pub(super) struct Updated<'a> {
    pub(super) scores: &'a mut [f64],
    pub(super) first: usize,
    pub(super) pending: &'a Pending,
}

impl TaskScores for Updated<'_> {
    fn chunk(&mut self, range: Range<usize>) -> &[f64] {
        let scores = &mut self.scores[range.clone()];
        self.pending.add_to(self.first + range.start, scores);
        scores
    }
}

/// Positions whose gradients one task computes, from `first` on, and the output of the task.
pub(super) struct Ask<S, O> {
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) scores: S,
    pub(super) out: O,
}

/// Gradients of a chunk of a task.
pub(super) struct Chunk<'a> {
    /// First position.
    pub(super) start: usize,
    /// Positions relative to the first of the task.
    pub(super) within: Range<usize>,
    pub(super) grads: &'a [f32],
    pub(super) hess: &'a [f32],
    pub(super) largest: Largest,
}

impl Chunk<'_> {
    pub(super) fn positions(&self) -> Range<usize> {
        self.start..self.start + self.grads.len()
    }
}

/// Inputs of gradients other than scores, for an objective of one output.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) objective: &'a dyn Objective,
    pub(super) targets: &'a [f32],
    pub(super) weights: Option<&'a [f32]>,
    pub(super) origin: f64,
    pub(super) round: usize,
    /// Row at each position.
    pub(super) order: &'a [u32],
}

/// Gradient that cannot be used: its position, the gradient and the hessian.
pub(super) type Unusable = (usize, f32, f32);

impl Asked<'_> {
    /// Computes gradients one chunk at a time and passes them to `take`. Returns the results of each task in the order
    /// of its chunks.
    ///
    /// # Errors
    /// Returns the error of the first invalid row, independently of the current order of the rows.
    pub(super) fn in_chunks<S: TaskScores, O: Send, R: Send>(
        self,
        team: &Team<'_>,
        phase: Phase,
        asks: Vec<Ask<S, O>>,
        take: impl Fn(&Chunk<'_>, &mut O) -> R + Sync,
    ) -> Result<Vec<Vec<R>>, TrainError> {
        let one = |Ask { first, len, mut scores, mut out }: Ask<S, O>| {
            let mut buffers = Buffers::default();
            let mut results = Vec::with_capacity(len.div_ceil(CHUNK));
            let mut unusable: Vec<Unusable> = Vec::new();
            for from in (0..len).step_by(CHUNK) {
                let (within, start) = (from..len.min(from + CHUNK), first + from);
                let positions = start..first + within.end;
                let rows = Rows {
                    targets: &self.targets[positions.clone()],
                    weights: self.weights.map(|weights| &weights[positions]),
                    scores: scores.chunk(within.clone()),
                    origin: self.origin,
                };
                let n_rows = within.len();
                buffers.ask(self.objective, &rows, 0..n_rows, None);
                let (grads, hess) = buffers.output(0, n_rows);
                match largest(grads, hess) {
                    Some(largest) => results.push(take(&Chunk { start, within, grads, hess, largest }, &mut out)),
                    None => unusable.extend(
                        (0..n_rows)
                            .filter(|&at| largest(&grads[at..=at], &hess[at..=at]).is_none())
                            .map(|at| (start + at, grads[at], hess[at])),
                    ),
                }
            }
            if unusable.is_empty() { Ok(results) } else { Err(unusable) }
        };
        let (mut results, mut unusable) = (Vec::new(), Vec::new());
        for done in team.map_rows(phase, self.order.len(), asks, |ask| (ask.first, ask.len), one) {
            match done {
                Ok(done) => results.push(done),
                Err(found) => unusable.extend(found),
            }
        }
        let row = |at: usize| self.order[at] as usize;
        match unusable.into_iter().min_by_key(|&(at, ..)| row(at)) {
            None => Ok(results),
            Some((at, grad, hess)) => Err(TrainError::Gradient { row: row(at), grad, hess, round: self.round }),
        }
    }
}

/// Number of positions per task. Results are by chunk, and do not depend on it.
pub(super) fn task_rows(n_rows: usize) -> usize {
    (n_rows / (TASKS * CHUNK)).clamp(1, CHUNKS) * CHUNK
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
    fn ask(
        &mut self,
        objective: &dyn Objective,
        rows: &Rows<'_>,
        range: Range<usize>,
        queries: Option<QueryBatch<'_>>,
    ) {
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
        objective.gradients(&Batch { targets: &rows.targets[range], weights, scores: &scores, queries }, &mut places);
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

/// Returns the raw scores of a model, grouped by output; sums over the trees if the model averages them.
pub(super) fn of_model(model: &Model, features: &Features<'_>) -> Result<Vec<f64>, TrainError> {
    let sums;
    let model = if model.output.average {
        let base_scores = vec![0.0; model.n_outputs()];
        sums = Model { output: Output { average: false, base_scores, ..model.output.clone() }, ..model.clone() };
        &sums
    } else {
        model
    };
    let raw = Predictor::new(model).and_then(|predictor| predictor.raw(features));
    let raw = raw.map_err(|error| TrainError::Continue { reason: error.to_string() })?;
    let outputs = model.output.base_scores.len();
    let column = |output: usize| raw.iter().skip(output).step_by(outputs).copied();
    Ok((0..outputs).flat_map(column).collect())
}
