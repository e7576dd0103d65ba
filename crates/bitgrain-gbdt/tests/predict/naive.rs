//! Reference predictions: one row, one tree, one split at a time.

use bitgrain_gbdt::model::{Link, Model};

pub(crate) fn predicted(model: &Model, row: &[f64]) -> Vec<f64> {
    let raw = model.raw_scores_of(row);
    match model.output.link {
        Link::Identity => raw,
        Link::Logistic { slope } => raw.iter().map(|score| 1.0 / (1.0 + libm::exp(-slope * score))).collect(),
        Link::Exponential => raw.iter().map(|score| libm::exp(score.min(700.0))).collect(),
        Link::Softmax => {
            let largest = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = raw.iter().map(|score| libm::exp(score - largest)).collect();
            powers.iter().map(|power| power / powers.iter().sum::<f64>()).collect()
        }
        Link::Softplus | Link::SignedSquare | Link::Step => unreachable!("models of other libraries only"),
    }
}
