//! `bitgrain embed`: embeds sentences with a model in any weight format.

use std::fs;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bitgrain::codec::weight::{DType, WeightFormat};
use bitgrain::nn::model::convert::FormatChoice;
use bitgrain::nn::network::embed::{SentenceEncoder, nearest_neighbor, save_npy};
use serde::Serialize;

use super::predict::{check_output_path, ensure_not_input};
use crate::device::DeviceChoice;
use crate::error::CliError;
use crate::printable::shortened;
use crate::progress::RoundBar;
use crate::table::Table;
use crate::threads::on_threads;

/// Embed sentences as unit vectors; similar sentences have a large cosine similarity.
///
/// MODEL is a Hugging Face folder with a BERT sentence encoder, such as all-MiniLM-L6-v2: config.json,
/// model.safetensors, and tokenizer.json or vocab.txt. Sentences longer than the model's maximum length are truncated.
/// Without -o and --json, each sentence is printed with the most similar one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain embed all-MiniLM-L6-v2/ 'A man plays the guitar.' 'Someone makes music.'
  bitgrain embed all-MiniLM-L6-v2/ --file lines.txt -o vectors.npy
  bitgrain embed all-MiniLM-L6-v2/ --file lines.txt --to q8_0 -o vectors.npy
  printf 'one\\ntwo\\n' | bitgrain embed all-MiniLM-L6-v2/ --file - --to int4 --json")]
pub(crate) struct Args {
    /// Folder of the model.
    model: PathBuf,
    /// Sentences to embed.
    #[arg(value_name = "SENTENCE", required_unless_present = "file")]
    sentences: Vec<String>,
    /// File with one sentence per line; - reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "sentences")]
    file: Option<PathBuf>,
    /// Format of the weight matrices, optionally with its calibration, such as int2@mse; `bitgrain quantize --help`
    /// lists the formats.
    #[arg(long, value_name = "FORMAT", default_value = "float32", value_parser = format)]
    to: WeightFormat,
    /// Device that runs the model: cpu, gpu, or gpu:ADAPTER with an index or a part of a name from `bitgrain info`. A GPU
    /// does not round activations, so vectors differ from the CPU's by that rounding.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceChoice,
    /// Output file for the vectors: .npy, one row per sentence.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print the token ids of each sentence, one line per sentence, instead of embedding it.
    #[arg(long, conflicts_with_all = ["output", "json", "to", "device"])]
    tokens: bool,
    /// Number of threads [default: all cores]; the vectors do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON, including the vectors unless -o is given.
    #[arg(long)]
    json: bool,
}

/// Number of sentences per update of the progress bar.
const STEP: usize = 256;

/// Maximum number of sentences that are compared pairwise: the work grows quadratically.
const MOST_SHOWN: usize = 1000;

/// Report of the command.
#[derive(Serialize)]
struct Embedded {
    sentences: usize,
    dims: usize,
    format: String,
    /// Size of the weights in that format.
    bytes: usize,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<Vec<Vec<f32>>>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    if let Some(path) = &args.output {
        if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("npy")) {
            return Err(CliError::NotNpy { path: path.clone() });
        }
        check_output_path(path)?;
        ensure_not_input(path, args.file.iter())?;
    }
    let sentences = sentences(args)?;
    if args.tokens {
        return tokens(args, &sentences, out);
    }
    let (mut done, vectors) = on_threads(args.threads, || embed(args, &sentences))??;
    if let Some(path) = &args.output {
        save_npy(path, &vectors, done.dims)?;
    }
    if args.json {
        done.vectors = args.output.is_none().then_some(vectors);
        serde_json::to_writer(&mut *out, &done)?;
        return Ok(writeln!(out)?);
    }
    if args.output.is_none() && sentences.len() <= MOST_SHOWN {
        write!(out, "{}", similarity_table(&sentences, &vectors))?;
        writeln!(out)?;
    }
    let (megabytes, rate) = (megabytes(done.bytes), speed(&done));
    let Embedded { sentences: count, dims, format, .. } = done;
    Ok(writeln!(
        out,
        "{count} sentences, {dims} dimensions, {format}: {megabytes:.1} MB of weights, {rate:.0} sentences/s"
    )?)
}

fn format(text: &str) -> Result<WeightFormat, CliError> {
    match text.parse() {
        Ok(FormatChoice::To(format)) => Ok(format),
        _ => Err(CliError::UnknownFormat { name: text.to_owned() }),
    }
}

fn sentences(args: &Args) -> Result<Vec<String>, CliError> {
    let Some(path) = &args.file else { return Ok(args.sentences.clone()) };
    let read = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    let text = read.map_err(|source| CliError::File { path: path.clone(), source })?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn tokens(args: &Args, sentences: &[String], out: &mut impl Write) -> Result<(), CliError> {
    let encoder = SentenceEncoder::open(&args.model)?;
    for text in sentences {
        let ids: Vec<String> = encoder.tokens(text).iter().map(u32::to_string).collect();
        writeln!(out, "{}", ids.join(" "))?;
    }
    Ok(())
}

fn embed(args: &Args, sentences: &[String]) -> Result<(Embedded, Vec<Vec<f32>>), CliError> {
    let mut encoder = SentenceEncoder::open(&args.model)?;
    if args.to != WeightFormat::from(DType::Float32) {
        encoder.morph(args.to)?;
        // The format does not change again, so the f32 weights need not stay in memory.
        encoder.freeze()?;
    }
    let runner = args.device.open(encoder.network())?;
    let bar = RoundBar::of("embedding", "sentences");
    let start = Instant::now();
    let mut vectors = Vec::with_capacity(sentences.len());
    for some in sentences.chunks(STEP) {
        bar.at(vectors.len(), sentences.len(), "");
        vectors.extend(runner.embed(&encoder, some)?);
    }
    bar.finish();
    let seconds = start.elapsed().as_secs_f64();
    let (dims, bytes, format) = (encoder.dims(), encoder.bytes()?, FormatChoice::To(args.to).to_string());
    Ok((Embedded { sentences: sentences.len(), dims, format, bytes, seconds, vectors: None }, vectors))
}

/// Returns a table of each sentence and the most similar other one.
fn similarity_table(sentences: &[String], vectors: &[Vec<f32>]) -> Table {
    let mut table = Table::new(&["sentence", "most similar", "cosine"], 2);
    for (at, text) in sentences.iter().enumerate() {
        let (other, cosine) = match nearest_neighbor(vectors, at) {
            Some((other, cosine)) => (shortened(&sentences[other], 60), format!("{cosine:.4}")),
            None => (String::new(), String::new()),
        };
        table.row([shortened(text, 60), other, cosine]);
    }
    table
}

#[expect(clippy::cast_precision_loss, reason = "to show")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "to show")]
fn speed(done: &Embedded) -> f64 {
    done.sentences as f64 / done.seconds.max(1e-9)
}
