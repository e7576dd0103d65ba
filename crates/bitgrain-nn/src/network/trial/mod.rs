//! Trials of weight formats: quantizes, saves, loads and runs a network in each, and measures the effect of
//! calibration.
//!
//! Part of the library because the guide, the example `digits` and the `tour` command report the same figures, and none
//! of them can import from another.

mod calibration;

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
pub use calibration::{CalibrationTrial, Outcome, measure_calibration};

/// Number of timed runs, of which the shortest counts.
const RUNS: usize = 5;

/// Maximum number of samples that are timed one at a time.
const ALONE: usize = 64;

/// Results of a network in one format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// Format, with its calibration if that is not the default.
    pub format: String,
    /// Size of the active weights in bytes, including vectors at f32.
    pub bytes: usize,
    /// Size of the active weights in bits per weight.
    pub bits_per_weight: f64,
    /// Size of the saved file in bytes.
    pub file_bytes: u64,
    /// Mean loss.
    pub loss: f64,
    /// Share of correct classes, if the targets are classes.
    pub accuracy: Option<f64>,
    /// Cosine similarity of the outputs with those at f32, over all samples.
    pub output_cosine: f64,
    /// Cosine similarity of the active weights with those at f32.
    pub weight_cosine: f64,
    /// Cosine similarity that the optimal quantizer with the same number of levels and one scale reaches on normally
    /// distributed weights; `None` for floats that need no scale.
    pub optimum: Option<f64>,
    /// Seconds per sample with all samples in one batch.
    pub seconds: f64,
    /// Seconds per sample with one sample per batch.
    pub seconds_alone: f64,
    /// Whether the loaded network's outputs are bit-identical to those of the saved one.
    pub same_after_loading: bool,
}

/// Switches a copy of a network to a format, saves it to `file`, loads it again and runs it over samples.
///
/// The network itself is unchanged; `file` is overwritten.
///
/// ```
/// use bitgrain_codec::weight::DType;
/// use bitgrain_nn::network::sample::classifier;
/// use bitgrain_nn::network::train::LossFunction;
/// use bitgrain_nn::network::trial::run_trial;
/// let digits = classifier(2)?; // two epochs are enough here
/// let file = std::env::temp_dir().join("bitgrain-trial.json");
/// let int8 = run_trial(&digits.network, DType::Int8.into(), &digits.unknown, LossFunction::CrossEntropy, &file)?;
/// assert!(int8.same_after_loading && int8.output_cosine > 0.999);
/// assert!(int8.bits_per_weight < 9.0 && int8.optimum > Some(0.999));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of switching the format, saving, loading and running the network.
pub fn run_trial(
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
        (0..data.count().min(ALONE)).map(|at| data.inputs().select(&[at])).collect::<Result<_, _>>()?;
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

/// Converts the smallest possible relative error to a cosine similarity.
fn optimum(format: WeightFormat) -> Option<f64> {
    let plain = matches!(format, WeightFormat::Scaled(scaled) if scaled.dtype.is_plain());
    (!plain).then(|| (1.0 - format.optimum().powi(2)).sqrt())
}

/// Returns the time of the fastest run over all batches.
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
