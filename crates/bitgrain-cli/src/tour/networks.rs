//! Chapter "networks": trains a classifier of handwritten digits in f32, then saves, loads and runs it in every dtype.

use std::time::Instant;

use bitgrain::codec::weight::{Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat};
use bitgrain::nn::model::convert::FormatChoice;
use bitgrain::nn::network::observe::{Observer, observe_products};
use bitgrain::nn::network::sample::classifier;
use bitgrain::nn::network::train::{LossFunction, evaluate};
use bitgrain::nn::network::trial::{CalibrationTrial, Trial, measure_calibration, run_trial};
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::error::CliError;
use crate::number::digits;
use crate::table::Table;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "networks",
    title: "Networks: a classifier of handwritten digits, trained in f32 and run in every dtype",
    run,
};

const EPOCHS: usize = 12;

/// Formats that are also quantized with the results of a calibration pass.
const CALIBRATED: [&str; 5] = ["q4_0", "int4", "q3_k", "int2", "int2@mse"];

#[derive(Debug, Serialize)]
struct Networks {
    weights: usize,
    learned: usize,
    unknown: usize,
    epochs: usize,
    seconds: f64,
    accuracy: Option<f64>,
    formats: Vec<Trial>,
    calibration: Vec<CalibrationTrial>,
}

fn run() -> Result<Box<dyn Report>, CliError> {
    let start = Instant::now();
    let learned = classifier(EPOCHS)?;
    let seconds = start.elapsed().as_secs_f64();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("digits.json");
    let row = |format| run_trial(&learned.network, format, &learned.unknown, LossFunction::CrossEntropy, &file);
    let seen = observe_products(&learned.network, &[learned.known.inputs().clone()], Observer::MinMax)?;
    let mut calibration = Vec::new();
    for name in CALIBRATED {
        if let FormatChoice::To(format) = name.parse()? {
            calibration.push(measure_calibration(
                &learned.network,
                format,
                &seen,
                &learned.unknown,
                LossFunction::CrossEntropy,
            )?);
        }
    }
    Ok(Box::new(Networks {
        weights: learned.network.parameters().iter().map(|parameter| parameter.store().len()).sum(),
        learned: learned.known.count(),
        unknown: learned.unknown.count(),
        epochs: EPOCHS,
        seconds,
        accuracy: evaluate(&learned.network, &learned.unknown, LossFunction::CrossEntropy)?.accuracy,
        formats: formats().map(row).collect::<Result<_, _>>()?,
        calibration,
    }))
}

/// Returns every dtype, the 2-bit dtypes also with scales optimized for the squared error, and some of llama.cpp's
/// blocks.
fn formats() -> impl Iterator<Item = WeightFormat> {
    let searched = [DType::Int2, DType::Uint2]
        .map(|dtype| ScaledFormat::new(dtype).with_calibration(Calibration::MeanSquaredError));
    let blocks = [GgmlBlock::Q8_0, GgmlBlock::Q4_0, GgmlBlock::Q3_K];
    let dtypes = DType::ALL.into_iter().map(WeightFormat::from);
    dtypes.chain(searched.map(WeightFormat::from)).chain(blocks.map(WeightFormat::from))
}

impl Report for Networks {
    fn blocks(&self) -> Vec<Block> {
        let header = ["format", "bytes", "accuracy", "outputs", "weights", "optimum", "µs", "µs alone"];
        let mut formats = Table::new(&header, 1);
        for row in &self.formats {
            formats.row([
                row.format.clone(),
                row.bytes.to_string(),
                percent(row.accuracy),
                format!("{:.4}", row.output_cosine),
                format!("{:.4}", row.weight_cosine),
                row.optimum.map_or("-".to_owned(), |optimum| format!("{optimum:.4}")),
                format!("{:.1}", 1e6 * row.seconds),
                format!("{:.1}", 1e6 * row.seconds_alone),
            ]);
        }
        let mut gains = Table::new(&["format", "plain", "importance", "feedback", "accuracy", "with feedback"], 1);
        for row in &self.calibration {
            gains.row([
                row.format.clone(),
                digits(row.plain.error),
                digits(row.importance.error),
                digits(row.feedback.error),
                percent(row.plain.accuracy),
                percent(row.feedback.accuracy),
            ]);
        }
        let same = self.formats.iter().all(|row| row.same_after_loading);
        let loaded = if same { "bit-identical outputs" } else { "different outputs in some formats" };
        vec![
            Block::text(format!(
                "{} weights, trained on {} images for {} epochs in {:.1} s; accuracy {} on {} images by other writers.",
                self.weights,
                self.learned,
                self.epochs,
                self.seconds,
                percent(self.accuracy),
                self.unknown
            )),
            Block::Table(formats),
            Block::chart("Accuracy", &self.formats, |row| {
                (row.format.clone(), row.accuracy.unwrap_or(f64::NAN), percent(row.accuracy))
            }),
            Block::chart("Time per image in one batch", &self.formats, |row| {
                (row.format.clone(), row.seconds, format!("{:.1} µs", 1e6 * row.seconds))
            }),
            Block::terms([
                ("outputs", "cosine similarity to the outputs in f32"),
                ("weights", "cosine similarity to the weights in f32"),
                (
                    "optimum",
                    "weight cosine of the best quantizer with as many levels and one scale, for normally\n\
                     distributed weights; formats with a scale per group can exceed it",
                ),
                ("µs", "time per image in one batch, and one image at a time; best of five runs"),
            ]),
            Block::text(format!("Every network was saved and loaded before the measurement, with {loaded}.")),
            Block::text(
                "Relative error of the outputs without calibration, and with importance or error feedback from a calibration\n\
                 pass; then the accuracy:",
            ),
            Block::Table(gains),
            Block::text("To use networks in your own program: docs/guide/run-a-network.md"),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
