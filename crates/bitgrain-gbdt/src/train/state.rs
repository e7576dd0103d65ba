//! Targets, weights and scores of the training rows.

use super::row_column::RowColumn;
use super::scores::Rows;
use super::targets::Targets;
use super::{Boosting, Dataset, TrainError};
use crate::distributed::{Gathered, Peers, Reader, Writer};
use crate::model::Model;
use crate::objective::Objective;

/// Per-row training state other than bins.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Targets relative to `origin`.
    pub(super) targets: Vec<f32>,
    pub(super) weights: Option<Vec<f32>>,
    /// Scores grouped by output: the sums that the model predicts, added in the same order and precision.
    pub(super) scores: Vec<f64>,
    /// A constant near all targets if the objective [shifts](crate::objective::Objective::shifts), else 0.
    pub(super) origin: f64,
}

impl State {
    /// Creates the initial state; also returns the base scores of all workers. Takes targets and weights out of the dataset if possible,
    /// unless they are needed `by_row`: a copy would count in the peak of memory.
    pub(super) fn new(
        data: &mut Dataset,
        objective: &dyn Objective,
        init: Option<&Model>,
        by_row: bool,
        boosting: Boosting,
        peers: &Peers<'_>,
    ) -> Result<(Self, Vec<f64>), TrainError> {
        let (origin, best) = shared_constants(objective, data, peers)?;
        let base_scores = match init {
            // Each tree of a forest starts from the best constants, not from the earlier trees.
            _ if boosting == Boosting::Rf => best,
            Some(model) => model.output.base_scores.clone(),
            // The model predicts what its trees add to the initial scores.
            None if data.init_scores => vec![0.0; best.len()],
            None => best,
        };
        let scores = match boosting {
            Boosting::Rf => constant_scores(data.n_rows(), &base_scores),
            Boosting::Gbdt | Boosting::Dart => start_scores(data, &base_scores),
        };
        let targets = match &mut data.targets {
            Targets::F32(targets) if origin == 0.0 && !by_row => std::mem::take(targets),
            targets => targets.relative_to(origin),
        };
        let weights = if by_row { data.weights.clone() } else { data.weights.take() };
        Ok((Self { targets, weights, scores, origin }, base_scores))
    }

    /// Returns targets and weights to the dataset, if they were taken; `restore` returns a column to the original order
    /// of the rows.
    pub(super) fn give_back(self, data: &mut Dataset, restore: impl Fn(Vec<f32>) -> Vec<f32>) {
        drop(self.scores);
        if let Targets::F32(targets) = &mut data.targets
            && targets.is_empty()
        {
            *targets = restore(self.targets);
        }
        if data.weights.is_none() {
            data.weights = self.weights.map(restore);
        }
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        let Self { targets, weights, scores, origin } = self;
        Rows { targets, weights: weights.as_deref(), scores, origin: *origin }
    }

    /// Returns the columns that move with their rows.
    pub(super) fn row_columns(&mut self, moves: bool) -> Vec<RowColumn<'_>> {
        let weights = self.weights.as_deref_mut().map(RowColumn::F32);
        let others = [RowColumn::F32(&mut self.targets), RowColumn::F64(&mut self.scores)];
        if moves { others.into_iter().chain(weights).collect() } else { Vec::new() }
    }
}

/// Returns the best constants of the rows of all workers. Worker 0 computes them from all targets: one exchange of four
/// to sixteen bytes per row, so that every objective gets what it would get from one machine.
fn shared_constants(
    objective: &dyn Objective,
    data: &Dataset,
    peers: &Peers<'_>,
) -> Result<(f64, Vec<f64>), TrainError> {
    if peers.are_alone() {
        return Ok(best_constants(objective, &data.targets, data.weights.as_deref()));
    }
    let all = Gathered::of(peers, data)?;
    let bytes = peers.compute_on_root(|| {
        let mut told = Writer::default();
        if let Some(Gathered { targets, weights, .. }) = &all {
            objective.check_training(&targets.rounded(), weights.as_deref())?;
            let (origin, best) = best_constants(objective, targets, weights.as_deref());
            told.f64s(&[origin]).f64s(&best);
        }
        Ok(told.0)
    })?;
    let mut reader = Reader(&bytes);
    Ok((reader.f64s()?.first().copied().unwrap_or_default(), reader.f64s()?))
}

/// Returns the constant that gradients subtract from targets and scores, and the best constant scores.
pub(super) fn best_constants(objective: &dyn Objective, targets: &Targets, weights: Option<&[f32]>) -> (f64, Vec<f64>) {
    if !objective.shifts() {
        return (0.0, objective.base_scores(&targets.rounded(), weights));
    }
    // The base score of targets far from 0 loses precision in f32, so it is fitted relative to an anchor near them.
    let anchor = targets.anchor();
    let best = objective.base_scores(&targets.relative_to(anchor), weights);
    let best: Vec<f64> = best.into_iter().map(|score| anchor + score).collect();
    (best.first().copied().unwrap_or(anchor), best)
}

/// Returns the initial scores of all rows.
pub(super) fn start_scores(data: &Dataset, base_scores: &[f64]) -> Vec<f64> {
    data.start.clone().unwrap_or_else(|| constant_scores(data.n_rows(), base_scores))
}

fn constant_scores(n_rows: usize, scores: &[f64]) -> Vec<f64> {
    scores.iter().flat_map(|&score| std::iter::repeat_n(score, n_rows)).collect()
}
