//! `Score`: loss and accuracy of a network on samples.

use super::{LossFunction, TrainingSet, TrainingTargets};
use crate::network::{Network, NetworkError};

/// Number of samples per forward pass.
const PIECE: usize = 256;

/// Loss and accuracy of a network, with each parameter in its active format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean loss.
    pub loss: f64,
    /// Share of correct classes, if the targets are classes.
    pub accuracy: Option<f64>,
}

/// Runs a network over samples and compares the outputs with the targets.
///
/// # Errors
/// Same as [`Network::forward`], and [`NetworkError::Targets`].
#[expect(clippy::cast_precision_loss, reason = "means over samples")]
pub fn evaluate(network: &Network, data: &TrainingSet, loss: LossFunction) -> Result<Score, NetworkError> {
    let indices: Vec<usize> = (0..data.count()).collect();
    let (mut sum, mut right, mut all) = (0.0, 0, 0);
    for piece in indices.chunks(PIECE) {
        let part = data.select(piece)?;
        let y = network.forward(part.inputs())?;
        sum += loss.measure(&y, part.targets())?.0 * piece.len() as f64;
        if let TrainingTargets::Classes(classes) = part.targets() {
            right += y.argmax().iter().zip(classes).filter(|(a, b)| a == b).count();
            all += classes.len();
        }
    }
    let accuracy = (all > 0).then(|| right as f64 / all as f64);
    Ok(Score { loss: sum / data.count() as f64, accuracy })
}
