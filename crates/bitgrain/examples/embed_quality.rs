//! Quality of a sentence encoder in each weight format:
//! `cargo run --release --example embed_quality -- MODEL PAIRS.csv [--pairs N] [--calibrate N] [FORMAT…]`
//!
//! PAIRS has two sentences and a score per line, without a header, as in the STS benchmark. Prints a Markdown table
//! with the Spearman correlation of cosine similarities with the scores, the cosine similarity of the vectors with
//! those at f32, the size of the weights, and speed. With `--calibrate`, the last N pairs are used for calibration
//! instead of measurement, and each format is shown without calibration data, with importances and with feedback.

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

use bitgrain::codec::weight::{DType, WeightFormat};
use bitgrain::nn::model::convert::FormatChoice;
use bitgrain::nn::network::embed::{EmbedError, SentenceEncoder, cosine};

const USAGE: &str =
    "usage: cargo run --release --example embed_quality -- MODEL PAIRS.csv [--pairs N] [--calibrate N] [FORMAT…]";

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
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let most = number(&mut args, "--pairs")?.unwrap_or(usize::MAX);
    let calibrate = number(&mut args, "--calibrate")?;
    let [model, pairs, formats @ ..] = args.as_slice() else { return Err(USAGE.into()) };
    let formats = if formats.is_empty() {
        every_format()
    } else {
        let format = |name: &String| match name.parse()? {
            FormatChoice::To(format) => Ok(format),
            FormatChoice::Keep => Err(Box::from(format!("`{name}` is not a weight format"))),
        };
        formats.iter().map(format).collect::<Result<_, Box<dyn Error>>>()?
    };
    let mut pairs = pairs_of(&std::fs::read_to_string(pairs)?)?;
    let apart = pairs.split_off(pairs.len().saturating_sub(calibrate.unwrap_or(0)));
    pairs.truncate(most);
    if pairs.is_empty() {
        return Err("no pairs left to measure".into());
    }
    let encoder = SentenceEncoder::open(model)?;
    let mut out = io::stdout().lock();
    writeln!(out, "| format | MB | Spearman | cosine to float32 | sentences/s |")?;
    writeln!(out, "|---|--:|--:|--:|--:|")?;
    let full = Measured::of(&encoder, &pairs)?;
    let calibrated = calibrated(&encoder, &apart)?;
    full.row("float32", &full, &mut out)?;
    for format in formats {
        let name = FormatChoice::To(format).to_string();
        measure(&encoder, format, &pairs)?.row(&name, &full, &mut out)?;
        for (how, encoder) in &calibrated {
            measure(encoder, format, &pairs)?.row(&format!("{name}, {how}"), &full, &mut out)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Removes an option from the arguments and returns its value.
fn number(args: &mut Vec<String>, option: &str) -> Result<Option<usize>, Box<dyn Error>> {
    let Some(at) = args.iter().position(|arg| arg == option) else { return Ok(None) };
    let value = args.get(at + 1).ok_or(USAGE)?.parse()?;
    args.drain(at..at + 2);
    Ok(Some(value))
}

/// Returns the model with importances and with feedback; empty without pairs for calibration.
fn calibrated(encoder: &SentenceEncoder, pairs: &[Pair]) -> Result<Vec<(&'static str, SentenceEncoder)>, EmbedError> {
    let sentences = sentences(pairs);
    if sentences.is_empty() {
        return Ok(Vec::new());
    }
    let [mut weighed, mut fed] = [encoder.clone(), encoder.clone()];
    weighed.calibrate(&sentences)?;
    fed.calibrate_feedback(&sentences)?;
    Ok(vec![("importances", weighed), ("feedback", fed)])
}

fn measure(encoder: &SentenceEncoder, format: WeightFormat, pairs: &[Pair]) -> Result<Measured, Box<dyn Error>> {
    // A version is cached with the master weights it was made from: start each format from a fresh copy.
    let mut encoder = encoder.clone();
    encoder.morph(format)?;
    Measured::of(&encoder, pairs)
}

/// Returns the blocks of llama.cpp, then the dtypes except f32, which is the reference.
fn every_format() -> Vec<WeightFormat> {
    let (blocks, dtypes): (Vec<_>, Vec<_>) = WeightFormat::all().partition(|format| format.block() > 1);
    blocks.into_iter().chain(dtypes.into_iter().filter(|format| *format != DType::Float32.into())).collect()
}

struct Pair {
    sentences: [String; 2],
    score: f64,
}

fn sentences(pairs: &[Pair]) -> Vec<&str> {
    pairs.iter().flat_map(|pair| &pair.sentences).map(String::as_str).collect()
}

/// Results of one format.
struct Measured {
    bytes: usize,
    vectors: Vec<Vec<f32>>,
    spearman: f64,
    per_second: f64,
}

impl Measured {
    fn of(encoder: &SentenceEncoder, pairs: &[Pair]) -> Result<Self, Box<dyn Error>> {
        let sentences = sentences(pairs);
        // Warm up: the first product packs the codes.
        encoder.embed(&sentences[..1])?;
        let start = Instant::now();
        let vectors = encoder.embed(&sentences)?;
        let per_second = sentences.len() as f64 / start.elapsed().as_secs_f64();
        let cosines: Vec<f64> = vectors.chunks_exact(2).map(|pair| cosine(&pair[0], &pair[1])).collect();
        let scores: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
        let spearman = correlation(&ranks(&cosines), &ranks(&scores));
        Ok(Self { bytes: encoder.bytes()?, vectors, spearman, per_second })
    }

    fn row(&self, name: &str, full: &Self, out: &mut impl Write) -> io::Result<()> {
        let cosines = self.vectors.iter().zip(&full.vectors).map(|(a, b)| cosine(a, b));
        let mean = cosines.sum::<f64>() / self.vectors.len() as f64;
        let (megabytes, spearman, speed) = (self.bytes as f64 / 1e6, self.spearman, self.per_second);
        writeln!(out, "| `{name}` | {megabytes:.1} | {spearman:.4} | {mean:.5} | {speed:.0} |")
    }
}

/// Returns the rank of each value; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for same in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let place = before as f64 + (same.len() - 1) as f64 / 2.0;
        same.iter().for_each(|at| ranks[*at] = place);
        before += same.len();
    }
    ranks
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (a_mean, b_mean) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().map(|a| a - a_mean).zip(b.iter().map(|b| b - b_mean)) {
        (ab, aa, bb) = (ab + a * b, aa + a * a, bb + b * b);
    }
    ab / (aa * bb).sqrt()
}

fn pairs_of(text: &str) -> Result<Vec<Pair>, Box<dyn Error>> {
    let pair = |(at, line): (usize, &str)| {
        let wrong = || format!("line {}: expected two sentences and a score, found `{line}`", at + 1);
        let fields: [String; 3] = fields(line).try_into().map_err(|_| wrong())?;
        let [first, second, score] = fields;
        Ok(Pair { sentences: [first, second], score: score.trim().parse().map_err(|_| wrong())? })
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(pair).collect()
}

/// Splits a CSV line into fields; a doubled quote in a quoted field is a quote.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("never empty");
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}
