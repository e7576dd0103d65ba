//! A network from training to quantized inference: `cargo run --release -p bitgrain-nn --example digits`
//!
//! Trains a classifier of handwritten digits at f32, calibrates it, quantizes it to each weight format, saves, loads and
//! runs each version, and prints size, accuracy and speed as Markdown tables. `bitgrain tour networks` shows the short
//! form.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

use bitgrain_codec::weight::{Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat};
use bitgrain_nn::model::convert::FormatChoice;
use bitgrain_nn::network::observe::{Observer, observe_products};
use bitgrain_nn::network::sample::{Classifier, classifier};
use bitgrain_nn::network::train::{LossFunction, evaluate};
use bitgrain_nn::network::trial::{measure_calibration, run_trial};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Exit quietly if the reader closes the pipe, as `head` does.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let start = Instant::now();
    let digits = classifier(20)?;
    let seconds = start.elapsed().as_secs_f64();
    let score = evaluate(&digits.network, &digits.unknown, LossFunction::CrossEntropy)?;
    let last = digits.history.epochs.last().ok_or("no epochs")?;
    let weights: usize = digits.network.parameters().iter().map(|parameter| parameter.store().master().len()).sum();
    writeln!(
        out,
        "{weights} weights, {} epochs in {seconds:.1} s, loss {:.4}; accuracy on images by other writers {:.1} %",
        last.number,
        last.loss,
        percent(score.accuracy),
    )?;
    morphed(&digits, &mut out)?;
    calibrated(&digits, &mut out)
}

/// Quantizes, saves, loads and runs the network in all formats.
fn morphed(digits: &Classifier, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("digits.json");
    writeln!(
        out,
        "\n| format | bits per weight | file bytes | accuracy | output cosine | weight cosine | optimum | µs per image | \
         µs alone |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    let blocks = [GgmlBlock::Q8_0, GgmlBlock::Q6_K, GgmlBlock::Q4_K, GgmlBlock::Q4_0, GgmlBlock::Q3_K];
    // At two bits, searching for the scales makes a large difference.
    let searched = [DType::Int2, DType::Uint2]
        .map(|dtype| ScaledFormat::new(dtype).with_calibration(Calibration::MeanSquaredError));
    let formats = DType::ALL.into_iter().map(WeightFormat::from).chain(searched.map(WeightFormat::from));
    for format in formats.chain(blocks.map(WeightFormat::from)) {
        let row = run_trial(&digits.network, format, &digits.unknown, LossFunction::CrossEntropy, &file)?;
        if !row.same_after_loading {
            return Err(format!("{format}: the loaded network has other outputs").into());
        }
        writeln!(
            out,
            "| {} | {:.2} | {} | {:.1} % | {:.4} | {:.4} | {} | {:.1} | {:.1} |",
            row.format,
            row.bits_per_weight,
            row.file_bytes,
            percent(row.accuracy),
            row.output_cosine,
            row.weight_cosine,
            row.optimum.map_or("-".to_owned(), |optimum| format!("{optimum:.4}")),
            1e6 * row.seconds,
            1e6 * row.seconds_alone,
        )?;
    }
    Ok(())
}

/// Measures the gain of a calibration pass: the output error without calibration data, with importances, and with error
/// feedback.
fn calibrated(digits: &Classifier, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let seen = observe_products(&digits.network, &[digits.known.inputs().clone()], Observer::Percentile(99.9))?;
    writeln!(out, "\n| matrix | inputs from | to | columns that are always 0 |")?;
    writeln!(out, "|---|---|---|---|")?;
    for one in seen.activations() {
        let silent = one.mean_squares.iter().filter(|square| **square == 0.0).count();
        let columns = one.mean_squares.len();
        writeln!(out, "| {} | {:.3} | {:.3} | {silent} of {columns} |", one.parameter, one.lo, one.hi)?;
    }
    writeln!(
        out,
        "\n| format | output error | with importances | with feedback | accuracy | with importances | with feedback |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for name in ["int4", "int4@mse", "fp4", "q4_0", "q4_k", "q3_k", "int2", "int2@mse", "ternary", "binary"] {
        let FormatChoice::To(format) = name.parse()? else { continue };
        let row = measure_calibration(&digits.network, format, &seen, &digits.unknown, LossFunction::CrossEntropy)?;
        let all = [row.plain, row.importance, row.feedback];
        let errors = all.map(|outcome| format!("{:.4}", outcome.error)).join(" | ");
        let shares = all.map(|outcome| format!("{:.1} %", percent(outcome.accuracy))).join(" | ");
        writeln!(out, "| {name} | {errors} | {shares} |")?;
    }
    Ok(())
}

fn percent(share: Option<f64>) -> f64 {
    100.0 * share.unwrap_or(f64::NAN)
}
