//! Reference predictions: one row, one tree, one split at a time.

use bitgrain_gbdt::model::Model;

pub(crate) fn predicted(model: &Model, row: &[f64]) -> Vec<f64> {
    let mut scores = model.raw_scores_of(row);
    model.output.link.apply(&mut scores);
    scores
}
