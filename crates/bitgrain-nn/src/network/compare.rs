//! Comparison of two networks: their active weights and their outputs.

use bitgrain_codec::Fidelity;
use bitgrain_kernels::{Backend, ErrorSums, error_sums};
use serde::Serialize;

use super::{InputBatch, Network, NetworkError};
use crate::model::compare::ErrorStats;

/// Differences between two networks.
#[derive(Debug, Clone, Serialize)]
pub struct NetworkComparison {
    /// All parameters.
    pub parameters: Vec<ParameterRow>,
    /// ErrorStats over all weights, each counted once.
    pub overall: ErrorStats,
    /// Comparison of the outputs, if inputs were given.
    pub outputs: Option<OutputAgreement>,
}

/// A parameter of both networks.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterRow {
    /// Name of the parameter.
    pub name: String,
    /// Active format in the first network.
    pub first: String,
    /// Active format in the second network.
    pub second: String,
    /// Size of the first network's active weights in bytes.
    pub first_bytes: usize,
    /// Size of the second network's active weights in bytes.
    pub second_bytes: usize,
    /// Error of the second network's weights relative to the first's.
    pub figures: ErrorStats,
}

/// Error of the second network's outputs relative to the first's.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct OutputAgreement {
    /// ErrorStats over all outputs.
    pub figures: ErrorStats,
    /// Mean cosine similarity of the outputs of a sample.
    pub mean_cosine: f64,
    /// Share of output vectors along the last dimension with the same argmax in both networks.
    pub same_choice: f64,
}

/// Compares the active weights of two networks with the same layers, and their outputs for `inputs`.
///
/// # Errors
/// Returns [`NetworkError::Different`] if the parameters differ, and the errors of [`Network::forward`].
pub fn compare_networks(
    first: &Network,
    second: &Network,
    inputs: Option<&InputBatch>,
) -> Result<NetworkComparison, NetworkError> {
    let describe = |network: &Network, i: usize| match network.parameters().get(i) {
        Some(parameter) => format!("`{}` {:?}", parameter.name(), parameter.store().shape()),
        None => "nothing".to_owned(),
    };
    let most = first.parameters().len().max(second.parameters().len());
    for i in 0..most {
        let [a, b] = [describe(first, i), describe(second, i)];
        if a != b {
            let parameter =
                first.parameters().get(i).or(second.parameters().get(i)).map_or("", |p| p.name()).to_owned();
            return Err(NetworkError::Different { parameter, first: a, second: b });
        }
    }
    let (mut parameters, mut sums, mut count) = (Vec::new(), ErrorSums::default(), 0);
    for (a, b) in first.parameters().iter().zip(second.parameters()) {
        let (left, right) = (a.values()?, b.values()?);
        let here = measured(a.name(), &left, &right)?;
        parameters.push(ParameterRow {
            name: a.name().to_owned(),
            first: a.format().to_string(),
            second: b.format().to_string(),
            first_bytes: a.active()?.bytes(),
            second_bytes: b.active()?.bytes(),
            figures: Fidelity::of(here, left.len()).into(),
        });
        sums = sums.merge(here);
        count += left.len();
    }
    let outputs = inputs.map(|inputs| agreement(first, second, inputs)).transpose()?;
    Ok(NetworkComparison { parameters, overall: Fidelity::of(sums, count).into(), outputs })
}

fn measured(name: &str, left: &[f32], right: &[f32]) -> Result<ErrorSums, NetworkError> {
    error_sums(Backend::best(), left, right).map_err(|error| NetworkError::codec(name)(error.into()))
}

#[expect(clippy::cast_precision_loss, reason = "shares of samples")]
fn agreement(first: &Network, second: &Network, inputs: &InputBatch) -> Result<OutputAgreement, NetworkError> {
    let (a, b) = (first.forward(inputs)?, second.forward(inputs)?);
    let sums = measured("output", a.values(), b.values())?;
    let samples = a.values().chunks_exact(a.sample_len()).zip(b.values().chunks_exact(a.sample_len()));
    let mut cosines = 0.0;
    for (a, b) in samples {
        cosines += Fidelity::of(measured("output", a, b)?, a.len()).cosine;
    }
    let same = a.argmax().into_iter().zip(b.argmax()).filter(|(a, b)| a == b).count();
    Ok(OutputAgreement {
        figures: Fidelity::of(sums, a.values().len()).into(),
        mean_cosine: cosines / a.count() as f64,
        same_choice: same as f64 / a.rows() as f64,
    })
}
