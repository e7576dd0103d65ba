//! Any bytes as a model file: a typed error, or a model that predicts and is written back unchanged.
//!
//! Input: the file without its length and checksum, which are filled in, so that the code after these checks is
//! reached. Spec: `spec/model.md`.

use bitgrain::formats::crc32c;
use bitgrain::gbdt::model::Model;

use crate::predictions;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let _ = Model::from_bytes(input);
    if input.len() < 28 {
        return;
    }
    let mut bytes = input.to_vec();
    let end = bytes.len() - 4;
    bytes[16..24].copy_from_slice(&(input.len() as u64).to_le_bytes());
    let sum = crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    let Ok(model) = Model::from_bytes(&bytes) else { return };
    assert_eq!(model.raw_scores_of(&[0.0, f64::NAN, 1.5]).len(), model.n_outputs());
    predictions::check(&model);
    let again = model.to_bytes().expect("what was read can be written");
    assert_eq!(Model::from_bytes(&again).as_ref(), Ok(&model));
}
