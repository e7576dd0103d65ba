//! `Gain`: what a calibration pass is worth for a format.

use bitgrain_codec::weight::WeightFormat;
use serde::Serialize;

use crate::model::convert::FormatChoice;
use crate::network::observe::Observations;
use crate::network::train::{LossFunction, TrainingSet, evaluate};
use crate::network::{Network, NetworkError, compare_networks};

/// A format without and with what a calibration pass saw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gain {
    /// The format, with its calibration where that is not the usual one.
    pub format: String,
    /// Every column counts alike.
    pub plain: Outcome,
    /// Scales are searched for by how large the inputs of each column are.
    pub importance: Outcome,
    /// What a weight loses, those behind it make up for.
    pub feedback: Outcome,
}

/// How near a quantized network is to the one at f32.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// How far outputs are off, relative to their size.
    pub error: f64,
    /// The share of right classes, if the targets are classes.
    pub accuracy: Option<f64>,
}

/// Runs a network in a format over samples: as it comes, with importances, and with feedback.
///
/// # Errors
/// [`NetworkError::Codec`] if mean products were not observed, and what morphing and running bring.
pub fn gain(
    network: &Network,
    format: WeightFormat,
    seen: &Observations,
    data: &TrainingSet,
    loss: LossFunction,
) -> Result<Gain, NetworkError> {
    let [mut plain, mut weighed, mut fed] = [(); 3].map(|()| network.clone());
    seen.apply(&mut weighed)?;
    seen.apply_feedback(&mut fed)?;
    let outcome = |morphed: &mut Network| -> Result<Outcome, NetworkError> {
        morphed.morph(format)?;
        let compared = compare_networks(network, morphed, Some(data.inputs()))?;
        let error = compared.outputs.map_or(f64::NAN, |outputs| outputs.figures.relative_rmse);
        Ok(Outcome { error, accuracy: evaluate(morphed, data, loss)?.accuracy })
    };
    Ok(Gain {
        format: FormatChoice::To(format).to_string(),
        plain: outcome(&mut plain)?,
        importance: outcome(&mut weighed)?,
        feedback: outcome(&mut fed)?,
    })
}
