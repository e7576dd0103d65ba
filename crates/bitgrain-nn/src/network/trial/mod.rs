//! Trials of weight formats: a network morphed, saved, loaded and run in each, and the gain of a calibration pass.
//!
//! Kept in the library because the guide, the example `digits` and the tour of the command report the same figures;
//! none of the three can import from another.

mod gain;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use bitgrain_codec::weight::WeightFormat;
use serde::Serialize;

use crate::ModelFileError;
use crate::model::convert::FormatChoice;
use crate::network::save::{Contents, NetworkFileError};
use crate::network::train::{LossFunction, TrainingSet, evaluate};
use crate::network::{InputBatch, Network, NetworkError, compare_networks};
pub use gain::{Gain, Outcome, gain};

/// Runs of which the shortest counts.
const RUNS: usize = 5;

/// Samples that go through alone, at most.
const ALONE: usize = 64;

/// What a format made of a network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The format, with its calibration where that is not the usual one.
    pub format: String,
    /// Bytes of the weights that it runs on, vectors at f32 among them.
    pub bytes: usize,
    /// The same as bits for each weight.
    pub bits_per_weight: f64,
    /// Bytes of the file it was saved in.
    pub file_bytes: u64,
    /// How samples come out, in the mean.
    pub loss: f64,
    /// The share of right classes, if the targets are classes.
    pub accuracy: Option<f64>,
    /// Cosine between what comes out and what comes out at f32, all samples together.
    pub output_cosine: f64,
    /// Cosine between the weights it runs on and those at f32.
    pub weight_cosine: f64,
    /// The cosine that the best quantizer with as many levels and one scale reaches on normally distributed weights;
    /// `None` for floats that need no scale.
    pub optimum: Option<f64>,
    /// Seconds for a sample, if all go through together.
    pub seconds: f64,
    /// Seconds for a sample that goes through alone.
    pub seconds_alone: f64,
    /// Whether the network that was loaded gave the same bits as the one that was saved.
    pub same_after_loading: bool,
}

/// Morphs a network to a format, saves it to `file`, loads that and runs it over samples.
///
/// The network itself is left as it is; `file` is written over.
///
/// ```
/// use bitgrain_codec::weight::DType;
/// use bitgrain_nn::network::sample::classifier;
/// use bitgrain_nn::network::train::LossFunction;
/// use bitgrain_nn::network::trial::trial;
/// let digits = classifier(2)?; // an epoch or two will do here
/// let file = std::env::temp_dir().join("bitgrain-trial.json");
/// let int8 = trial(&digits.network, DType::Int8.into(), &digits.unknown, LossFunction::CrossEntropy, &file)?;
/// assert!(int8.same_after_loading && int8.output_cosine > 0.999);
/// assert!(int8.bits_per_weight < 9.0 && int8.optimum > Some(0.999));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What morphing, saving, loading and running bring.
pub fn trial(
    network: &Network,
    format: WeightFormat,
    data: &TrainingSet,
    loss: LossFunction,
    file: &Path,
) -> Result<Trial, NetworkFileError> {
    let mut morphed = network.clone();
    morphed.morph(format)?;
    morphed.save(file, Contents::Active)?;
    let loaded = Network::open(file)?;
    let file_bytes = fs::metadata(file).map_err(ModelFileError::io(file)).map_err(NetworkFileError::io)?.len();
    let (before, after) = (morphed.forward(data.inputs())?, loaded.forward(data.inputs())?);
    let same_after_loading = before.values().iter().map(|x| x.to_bits()).eq(after.values().iter().map(|x| x.to_bits()));
    let score = evaluate(&loaded, data, loss)?;
    let compared = compare_networks(network, &loaded, Some(data.inputs()))?;
    let bytes = loaded.active_bytes()?;
    let weights: usize = network.parameters().iter().map(|parameter| parameter.store().len()).sum();
    let alone: Vec<InputBatch> =
        (0..data.count().min(ALONE)).map(|at| data.inputs().pick(&[at])).collect::<Result<_, _>>()?;
    #[expect(clippy::cast_precision_loss, reason = "means")]
    let (bits_per_weight, samples, singles) =
        (8.0 * bytes as f64 / weights as f64, data.count() as f64, alone.len() as f64);
    Ok(Trial {
        format: FormatChoice::To(format).to_string(),
        bytes,
        bits_per_weight,
        file_bytes,
        loss: score.loss,
        accuracy: score.accuracy,
        output_cosine: compared.outputs.map_or(f64::NAN, |outputs| outputs.figures.cosine),
        weight_cosine: compared.overall.cosine,
        optimum: optimum(format),
        seconds: seconds(&loaded, std::slice::from_ref(data.inputs()))? / samples,
        seconds_alone: seconds(&loaded, &alone)? / singles,
        same_after_loading,
    })
}

/// The least relative error as the cosine of what has it.
fn optimum(format: WeightFormat) -> Option<f64> {
    let plain = matches!(format, WeightFormat::Scaled(scaled) if scaled.dtype.is_plain());
    (!plain).then(|| (1.0 - format.optimum().powi(2)).sqrt())
}

/// The shortest of some runs over all batches.
fn seconds(network: &Network, batches: &[InputBatch]) -> Result<f64, NetworkError> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for batch in batches {
            black_box(network.forward(black_box(batch))?);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
