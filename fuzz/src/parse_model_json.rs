//! Any bytes as a JSON model: a typed error, or a model that predicts, is written back to the same JSON, and is exported
//! or refused.
//!
//! Input: the file. Spec: `spec/model.md#json`.

use bitgrain::gbdt::model::{Model, ModelFormat};

use crate::predictions;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Ok(model) = Model::from_json(input) else { return };
    assert_eq!(model.raw_scores_of(&[0.0, f64::NAN, 1.5]).len(), model.n_outputs());
    predictions::check(&model);
    assert_eq!(Model::from_json(model.to_json().as_bytes()).as_ref(), Ok(&model));
    for format in ModelFormat::ALL {
        let _ = model.export(format);
    }
}
