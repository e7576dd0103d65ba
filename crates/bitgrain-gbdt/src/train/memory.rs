//! Memory of a training whose bins are in a file.
//!
//! Everything but the bins is held in memory: for each row its index, target, weight, score and gradient. See
//! `docs/decisions/031-binned-files.md`.

use super::{Dataset, Params, TrainError};
use crate::gradient::GradientPrecision;
use crate::objective::Objective;

/// Memory of the program and of its threads, and of the mapped pages that threads read at once.
const BASE: u64 = 48 << 20;

/// Checks that training fits the limit on memory, if the data has one. Validation data is not counted.
pub(super) fn check(
    data: &Dataset,
    params: &Params,
    precision: GradientPrecision,
    objective: &dyn Objective,
) -> Result<(), TrainError> {
    let Some(limit) = data.slots.mapped.as_ref().and_then(|codes| codes.limit()) else { return Ok(()) };
    let (rows, limit) = (data.n_rows() as u64, limit as u64);
    let outputs = objective.n_outputs() as u64;
    let (pair, sum) = match precision {
        GradientPrecision::Pair4 => (1, 8),
        GradientPrecision::Pair8 => (2, 8),
        GradientPrecision::F32 | GradientPrecision::Auto => (8, 16),
    };
    // Index, target, weight, scores; then gradients of all outputs and the leaf, if the rows keep their order.
    let state = 4 + 4 + if data.weights.is_some() { 4 } else { 0 } + 8 * outputs + pair;
    let per_row = state + if params.moves_rows(objective) { 0 } else { 8 * outputs + 4 };
    // Each leaf has a histogram, and as many parts of the root are summed at once.
    let histograms = (params.num_leaves as u64).saturating_add(16).min(rows.max(16));
    let bins = u64::from(data.cuts.map().total_bins());
    let needed =
        BASE.saturating_add(per_row.saturating_mul(rows)).saturating_add(histograms.saturating_mul(bins * sum));
    if needed <= limit { Ok(()) } else { Err(TrainError::Memory { needed, limit, per_row, rows }) }
}
