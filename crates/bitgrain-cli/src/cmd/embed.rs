//! `bitgrain embed`: sentences to vectors, with a model in any weight format.

use std::fs;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bitgrain::codec::weight::{DType, WeightFormat};
use bitgrain::nn::model::convert::FormatChoice;
use bitgrain::nn::network::embed::{SentenceEncoder, most_alike, save_npy};
use serde::Serialize;

use super::predict::{check_place, refuse_over};
use crate::error::CliError;
use crate::printable::shortened;
use crate::progress::RoundBar;
use crate::table::Table;
use crate::threads::on_threads;

/// Embed sentences: a vector of length one for each, such that like sentences have a large cosine.
///
/// MODEL is a Hugging Face folder with a BERT that was trained for sentences, such as all-MiniLM-L6-v2: config.json,
/// model.safetensors, and tokenizer.json or vocab.txt. Texts beyond the length that the model was trained for are cut.
/// Without -o and --json each text is printed with the one that is most like it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain embed all-MiniLM-L6-v2/ 'A man plays the guitar.' 'Someone makes music.'
  bitgrain embed all-MiniLM-L6-v2/ --file lines.txt -o vectors.npy
  bitgrain embed all-MiniLM-L6-v2/ --file lines.txt --to q8_0 -o vectors.npy
  printf 'one\\ntwo\\n' | bitgrain embed all-MiniLM-L6-v2/ --file - --to int4 --json")]
pub(crate) struct Args {
    /// The folder of the model.
    model: PathBuf,
    /// The sentences.
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    texts: Vec<String>,
    /// A file with a sentence per line; - is the standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "texts")]
    file: Option<PathBuf>,
    /// The format of every weight matrix; `bitgrain quantize --help` lists them. With its calibration if need be:
    /// int2@mse.
    #[arg(long, value_name = "FORMAT", default_value = "float32", value_parser = format)]
    to: WeightFormat,
    /// Write the vectors to this .npy file, a row per text.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print the numbers of each text's tokens instead, a line per text.
    #[arg(long, conflicts_with_all = ["output", "json", "to"])]
    tokens: bool,
    /// Threads to use; all cores if not given. The vectors are the same.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON; with the vectors unless they are written to a file.
    #[arg(long)]
    json: bool,
}

/// Texts between two steps of the progress bar.
const STEP: usize = 256;

/// Texts that are compared with each other: the work grows with their square, and nobody reads more.
const MOST_SHOWN: usize = 1000;

/// What was done.
#[derive(Serialize)]
struct Embedded {
    texts: usize,
    dims: usize,
    format: String,
    /// Of the weights in that format.
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
        check_place(path)?;
        refuse_over(path, args.file.iter())?;
    }
    let texts = texts(args)?;
    if args.tokens {
        return tokens(args, &texts, out);
    }
    let (mut done, vectors) = on_threads(args.threads, || embed(args, &texts))??;
    if let Some(path) = &args.output {
        save_npy(path, &vectors, done.dims)?;
    }
    if args.json {
        done.vectors = args.output.is_none().then_some(vectors);
        serde_json::to_writer(&mut *out, &done)?;
        return Ok(writeln!(out)?);
    }
    if args.output.is_none() && texts.len() <= MOST_SHOWN {
        write!(out, "{}", alike(&texts, &vectors))?;
        writeln!(out)?;
    }
    let (megabytes, rate) = (megabytes(done.bytes), speed(&done));
    let Embedded { texts, dims, format, .. } = done;
    Ok(writeln!(
        out,
        "{texts} texts to {dims} numbers each, {format}: {megabytes:.1} MB of weights, {rate:.0} texts/s"
    )?)
}

fn format(text: &str) -> Result<WeightFormat, CliError> {
    match text.parse() {
        Ok(FormatChoice::To(format)) => Ok(format),
        _ => Err(CliError::UnknownFormat { name: text.to_owned() }),
    }
}

fn texts(args: &Args) -> Result<Vec<String>, CliError> {
    let Some(path) = &args.file else { return Ok(args.texts.clone()) };
    let read = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    let text = read.map_err(|source| CliError::File { path: path.clone(), source })?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn tokens(args: &Args, texts: &[String], out: &mut impl Write) -> Result<(), CliError> {
    let encoder = SentenceEncoder::open(&args.model)?;
    for text in texts {
        let ids: Vec<String> = encoder.tokens(text).iter().map(u32::to_string).collect();
        writeln!(out, "{}", ids.join(" "))?;
    }
    Ok(())
}

fn embed(args: &Args, texts: &[String]) -> Result<(Embedded, Vec<Vec<f32>>), CliError> {
    let mut encoder = SentenceEncoder::open(&args.model)?;
    if args.to != WeightFormat::from(DType::Float32) {
        encoder.morph(args.to)?;
        // No other format is asked for later, so the f32 values need not stay in memory.
        encoder.freeze()?;
    }
    let bar = RoundBar::of("embedding", "texts");
    let start = Instant::now();
    let mut vectors = Vec::with_capacity(texts.len());
    for some in texts.chunks(STEP) {
        bar.at(vectors.len(), texts.len(), "");
        vectors.extend(encoder.embed(some)?);
    }
    bar.finish();
    let seconds = start.elapsed().as_secs_f64();
    let (dims, bytes, format) = (encoder.dims(), encoder.bytes()?, FormatChoice::To(args.to).to_string());
    Ok((Embedded { texts: texts.len(), dims, format, bytes, seconds, vectors: None }, vectors))
}

/// Each text with the one that is most like it.
fn alike(texts: &[String], vectors: &[Vec<f32>]) -> Table {
    let mut table = Table::new(&["text", "most like it", "cosine"], 2);
    for (at, text) in texts.iter().enumerate() {
        let (other, cosine) = match most_alike(vectors, at) {
            Some((other, cosine)) => (shortened(&texts[other], 60), format!("{cosine:.4}")),
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
    done.texts as f64 / done.seconds.max(1e-9)
}
