//! Any bytes as a precision plan and as a list of layers: a typed error, or a value that survives a round trip.
//!
//! Input: the JSON of either.

use bitgrain::nn::model::plan::PrecisionPlan;
use bitgrain::nn::network::save::{layers_from_json, layers_to_json};

use crate::folder::Folder;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let folder = Folder::holding("plan.json", input);
    let path = folder.path().join("plan.json");
    if let Ok(plan) = PrecisionPlan::load(&path) {
        plan.save(&path).expect("space for the plan");
        assert_eq!(PrecisionPlan::load(&path).expect("just written"), plan);
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(layers) = layers_from_json(text) {
        let written = layers_to_json(&layers).expect("layers that were read");
        assert_eq!(layers_from_json(&written).expect("just written"), layers);
    }
}
