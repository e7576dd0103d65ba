//! `CalibrationTrial`: effect of a calibration pass on a format.

use bitgrain_codec::weight::WeightFormat;
use serde::Serialize;

use crate::model::convert::FormatChoice;
use crate::network::observe::Observations;
use crate::network::train::{LossFunction, TrainingSet, evaluate};
use crate::network::{Network, NetworkError, compare_networks};

/// Results of a format without and with calibration data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationTrial {
    /// Format, with its calibration if that is not the default.
    pub format: String,
    /// Without calibration data.
    pub plain: Outcome,
    /// With importances: scales minimize the error weighted by the mean square of each column's input.
    pub importance: Outcome,
    /// With error feedback: later weights of a row compensate for the rounding errors of earlier ones.
    pub feedback: Outcome,
}

/// Distance of a quantized network from the one at f32.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// Relative RMS error of the outputs.
    pub error: f64,
    /// Share of correct classes, if the targets are classes.
    pub accuracy: Option<f64>,
}

/// Runs a network in a format over samples: without calibration data, with importances, and with feedback.
///
/// # Errors
/// Returns [`NetworkError::Codec`] if mean products were not observed, and the errors of [`Network::morph`] and
/// [`Network::forward`].
pub fn measure_calibration(
    network: &Network,
    format: WeightFormat,
    seen: &Observations,
    data: &TrainingSet,
    loss: LossFunction,
) -> Result<CalibrationTrial, NetworkError> {
    let [mut plain, mut weighed, mut fed] = [(); 3].map(|()| network.clone());
    seen.apply(&mut weighed)?;
    seen.apply_feedback(&mut fed)?;
    let outcome = |morphed: &mut Network| -> Result<Outcome, NetworkError> {
        morphed.morph(format)?;
        let compared = compare_networks(network, morphed, Some(data.inputs()))?;
        let error = compared.outputs.map_or(f64::NAN, |outputs| outputs.figures.relative_rmse);
        Ok(Outcome { error, accuracy: evaluate(morphed, data, loss)?.accuracy })
    };
    Ok(CalibrationTrial {
        format: FormatChoice::To(format).to_string(),
        plain: outcome(&mut plain)?,
        importance: outcome(&mut weighed)?,
        feedback: outcome(&mut fed)?,
    })
}
