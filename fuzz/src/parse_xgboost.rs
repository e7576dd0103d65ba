//! Any bytes as an XGBoost model in JSON or UBJSON: a typed error, or a model that predicts and can be saved in our
//! format.
//!
//! Input: the file. Spec: `spec/model.md#xgboost`.

use bitgrain::gbdt::model::Model;

use crate::predictions;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Ok(model) = Model::from_xgboost(input) else { return };
    assert_eq!(model.raw_scores_of(&[0.0, f64::NAN, 1.5]).len(), model.n_outputs());
    predictions::check(&model);
    let bytes = model.to_bytes().expect("imports are checked");
    assert_eq!(Model::from_bytes(&bytes).as_ref(), Ok(&model));
}
