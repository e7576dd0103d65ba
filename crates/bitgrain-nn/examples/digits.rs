//! The whole way of a network: `cargo run --release -p bitgrain-nn --example digits`
//!
//! Trains a classifier of handwritten digits at f32, calibrates it, morphs it to every weight format, saves, loads and
//! runs each, and prints what that costs as Markdown tables.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use bitgrain_codec::weight::{Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat};
use bitgrain_nn::convert::Choice;
use bitgrain_nn::layer::Layer;
use bitgrain_nn::network::{Network, Shape, compare_networks};
use bitgrain_nn::observe::{Observer, observe_products};
use bitgrain_nn::sample::digits;
use bitgrain_nn::save::Contents;
use bitgrain_nn::train::{Dataset, Loss, Schedule, TrainConfig, evaluate, train};

/// Images that are learned from; the others are by people whose hands the network has not seen.
const LEARNED: usize = 1437;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that has seen enough is no error.
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
    let (known, unknown) = digits()?.split(LEARNED)?;
    let mut out = io::stdout().lock();
    let network = trained(&known, &unknown, &mut out)?;
    let folder = tempfile::tempdir()?;
    writeln!(
        out,
        "\n| format | bits per weight | file bytes | accuracy | output cosine | weight cosine | optimum | µs per image |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    let blocks = [GgmlBlock::Q8_0, GgmlBlock::Q6_K, GgmlBlock::Q4_K, GgmlBlock::Q4_0, GgmlBlock::Q3_K];
    // Two bits want their scales searched.
    let searched =
        [DType::Int2, DType::Uint2].map(|dtype| ScaledFormat::new(dtype).calibrated(Calibration::MeanSquaredError));
    let formats = DType::ALL.into_iter().map(WeightFormat::from).chain(searched.map(WeightFormat::from));
    for format in formats.chain(blocks.map(WeightFormat::from)) {
        row(&network, format, &unknown, folder.path(), &mut out)?;
    }
    calibrated(&network, &known, &unknown, &mut out)
}

/// 1. Train at f32.
fn trained(known: &Dataset, unknown: &Dataset, out: &mut impl Write) -> Result<Network, Box<dyn Error>> {
    let layers = vec![Layer::dense(256), Layer::relu(), Layer::dense(256), Layer::relu(), Layer::dense(10)];
    let mut network = Network::new(Shape::new(&[64]), layers, 1)?;
    let schedule = Schedule::Cosine;
    let config = TrainConfig { epochs: 20, schedule, ..TrainConfig::adam(2e-3, Loss::CrossEntropy) };
    let start = Instant::now();
    let history = train(&mut network, known, None, &config, &mut |_| ControlFlow::Continue(()))?;
    let score = evaluate(&network, unknown, Loss::CrossEntropy)?;
    let last = history.epochs.last().ok_or("no epochs")?;
    let weights: usize = network.parameters().iter().map(|parameter| parameter.store().master().len()).sum();
    writeln!(
        out,
        "{weights} weights, {} epochs in {:.1} s, loss {:.4}; accuracy on images of other hands {:.1} %",
        last.number,
        start.elapsed().as_secs_f64(),
        last.loss,
        100.0 * score.accuracy.unwrap_or(0.0),
    )?;
    Ok(network)
}

/// 2. Morph, save, load, run.
fn row(
    network: &Network,
    format: WeightFormat,
    data: &Dataset,
    folder: &Path,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let mut morphed = network.clone();
    morphed.morph(format)?;
    let path = folder.join("digits.json");
    morphed.save(&path, Contents::Active)?;
    let loaded = Network::open(&path)?;
    assert_eq!(loaded.forward(data.inputs())?, morphed.forward(data.inputs())?, "a loaded network runs identically");
    let accuracy = evaluate(&loaded, data, Loss::CrossEntropy)?.accuracy.unwrap_or(0.0);
    let compared = compare_networks(network, &loaded, Some(data.inputs()))?;
    let outputs = compared.outputs.ok_or("inputs were given")?;
    #[expect(clippy::cast_precision_loss, reason = "numbers to show")]
    let (bits, time) = {
        let weights: usize = network.parameters().iter().map(|parameter| parameter.store().master().len()).sum();
        (8.0 * loaded.active_bytes()? as f64 / weights as f64, seconds(&loaded, data)? * 1e6 / data.count() as f64)
    };
    let optimum = if matches!(format, WeightFormat::Scaled(f) if f.dtype.is_plain()) {
        "-".to_owned()
    } else {
        format!("{:.4}", (1.0 - format.optimum().powi(2)).sqrt())
    };
    writeln!(
        out,
        "| {} | {bits:.2} | {} | {:.1} % | {:.4} | {:.4} | {optimum} | {time:.1} |",
        Choice::To(format),
        std::fs::metadata(&path)?.len(),
        100.0 * accuracy,
        outputs.figures.cosine,
        compared.overall.cosine,
    )?;
    Ok(())
}

/// The shortest of some runs over all images.
fn seconds(network: &Network, data: &Dataset) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        black_box(network.forward(black_box(data.inputs()))?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// 3. What a calibration pass gains: how far outputs are off when every column counts alike, when scales know which inputs
///    are large, and when what a weight loses is made up for by the others.
fn calibrated(
    network: &Network,
    known: &Dataset,
    unknown: &Dataset,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let seen = observe_products(network, &[known.inputs().clone()], Observer::Percentile(99.9))?;
    let [mut weighed, mut fed] = [network.clone(), network.clone()];
    seen.apply(&mut weighed)?;
    seen.apply_feedback(&mut fed)?;
    writeln!(out, "\n| matrix | inputs from | to | columns that are always 0 |")?;
    writeln!(out, "|---|---|---|---|")?;
    for one in seen.activations() {
        let silent = one.mean_squares.iter().filter(|square| **square == 0.0).count();
        writeln!(
            out,
            "| {} | {:.3} | {:.3} | {silent} of {} |",
            one.parameter,
            one.lo,
            one.hi,
            one.mean_squares.len()
        )?;
    }
    writeln!(
        out,
        "\n| format | output error | with importances | with feedback | accuracy | with importances | with feedback |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for name in ["int4", "int4@mse", "fp4", "q4_0", "q4_k", "q3_k", "int2", "int2@mse", "ternary", "binary"] {
        let Choice::To(format) = name.parse()? else { continue };
        let (mut errors, mut shares) = (String::new(), String::new());
        for base in [network, &weighed, &fed] {
            let mut morphed = base.clone();
            morphed.morph(format)?;
            let compared = compare_networks(network, &morphed, Some(unknown.inputs()))?;
            errors += &format!("{:.4} | ", compared.outputs.ok_or("inputs were given")?.figures.relative_rmse);
            let accuracy = evaluate(&morphed, unknown, Loss::CrossEntropy)?.accuracy.unwrap_or(0.0);
            shares += &format!("{:.1} % | ", 100.0 * accuracy);
        }
        writeln!(out, "| {name} | {errors}{}", shares.trim_end())?;
    }
    Ok(())
}
