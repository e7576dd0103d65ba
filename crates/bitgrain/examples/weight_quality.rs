//! Error of each weight format on a model of your own: `cargo run --release --example weight_quality -- MODEL`
//!
//! Converts the model to all formats in a temporary directory and prints a Markdown table.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use bitgrain::codec::weight::{Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat, optimum};
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::{FormatChoice, Recipe, quantize};

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
    let file = std::env::args().nth(1).ok_or("usage: cargo run --release --example weight_quality -- MODEL")?;
    let model = ModelFile::open(&file)?;
    let folder = tempfile::tempdir()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| format | scales found by | bits per weight | relative RMSE | SNR dB | optimum dB | cosine | seconds |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    for (format, how) in formats() {
        row(&model, format, how, folder.path(), &mut out)?;
    }
    Ok(())
}

/// Returns all formats, the narrow dtypes with all calibrations.
fn formats() -> Vec<(WeightFormat, &'static str)> {
    let blocks = GgmlBlock::ALL.into_iter().map(|block| (WeightFormat::Ggml(block), "llama.cpp's rule"));
    let scaled = DType::ALL.into_iter().flat_map(|dtype| {
        let searches: &[(Calibration, &'static str)] = match dtype {
            DType::Ternary | DType::Binary => &[(Calibration::AbsMax, "least squares")],
            _ if dtype.is_plain() => &[(Calibration::AbsMax, "-")],
            _ if dtype.bits() > 8 => &[(Calibration::AbsMax, "absmax")],
            _ => &[
                (Calibration::AbsMax, "absmax"),
                (Calibration::Percentile(Calibration::DEFAULT_PERCENTILE), "percentile"),
                (Calibration::MeanSquaredError, "mse"),
                (Calibration::HalfQuadratic, "hqq"),
            ],
        };
        searches.iter().map(move |(how, name)| (ScaledFormat::new(dtype).with_calibration(*how).into(), *name))
    });
    blocks.chain([(WeightFormat::Q4F32, "absmax")]).chain(scaled).collect()
}

fn row(
    model: &ModelFile,
    format: WeightFormat,
    how: &str,
    folder: &Path,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let done = quantize(model, &folder.join("out.safetensors"), &Recipe::new(FormatChoice::To(format)), &())?;
    let seconds = start.elapsed().as_secs_f64();
    // Count only tensors that have this format: rows of unsuitable length get a fallback.
    let counted: Vec<_> = done.tensors.iter().filter(|t| t.figures.is_some() && t.remark.is_none()).collect();
    if counted.is_empty() {
        return Ok(()); // the model has this format already
    }
    let weights: u64 = counted.iter().map(|t| t.shape.iter().product::<u64>()).sum();
    let bytes: u64 = counted.iter().map(|t| t.bytes_after).sum();
    let remark = if counted.len() < done.tensors.iter().filter(|t| t.figures.is_some()).count() { " *" } else { "" };
    #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
    let bits = 8.0 * bytes as f64 / weights.max(1) as f64;
    let figures = done.overall;
    let snr = figures.snr_db.map_or("exact".to_owned(), |db| format!("{db:.1}"));
    let best =
        if figures.snr_db.is_some() { format!("{:.1}", optimum::decibels(format.optimum())) } else { "-".into() };
    writeln!(
        out,
        "| {format}{remark} | {how} | {bits:.2} | {} | {snr} | {best} | {:.6} | {seconds:.2} |",
        bitgrain::nn::model::report::number::digits(figures.relative_rmse),
        figures.cosine,
    )?;
    Ok(())
}
