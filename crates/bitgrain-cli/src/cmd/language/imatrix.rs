//! `bitgrain imatrix`: measures which columns of a language model's matrices matter, on a text.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use bitgrain::nn::network::language::LanguageModel;
use serde_json::json;

use super::read_text;
use crate::cmd::predict::{check_output_path, ensure_not_input};
use crate::error::CliError;
use crate::progress::RoundBar;
use crate::threads::on_threads;

/// Compute an importance matrix: the mean square of each input of each weight matrix, measured on a text.
///
/// The output is a GGUF file in the format of llama.cpp's llama-imatrix, which `bitgrain quantize --imatrix` and
/// llama.cpp's llama-quantize can read. Use text that resembles the inputs of the model; 50,000 tokens are enough.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain imatrix model-f16.gguf --text calibration.txt -o imatrix.gguf
  bitgrain quantize model-f16.gguf model-q4.gguf --to q4_k --imatrix imatrix.gguf")]
pub(crate) struct Args {
    /// Language model: a GGUF file.
    model: PathBuf,
    /// Text file, UTF-8; - reads standard input.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,
    /// Output file (GGUF).
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Tokens per chunk.
    #[arg(long, value_name = "N", default_value_t = 512)]
    chunk: usize,
    /// Maximum number of chunks [default: all].
    #[arg(long, value_name = "N")]
    chunks: Option<NonZeroUsize>,
    /// Include the output matrix, which takes longer.
    #[arg(long)]
    process_output: bool,
    /// Number of threads [default: all cores]; the result does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    check_output_path(&args.output)?;
    ensure_not_input(&args.output, [&args.model, &args.text])?;
    let text = read_text(&args.text)?;
    let start = Instant::now();
    let found = on_threads(args.threads, || {
        let model = LanguageModel::open(&args.model)?;
        let bar = RoundBar::of("measuring", "chunks");
        let chunks = args.chunks.map(NonZeroUsize::get);
        let found =
            model.importances(&text, args.chunk, chunks, args.process_output, |done, all| bar.at(done, all, ""))?;
        bar.finish();
        Ok::<_, CliError>(found)
    })??;
    found.save(&args.output, &args.text.to_string_lossy())?;
    let (tensors, chunks, tokens) = (found.len(), found.chunks(), found.chunks() * args.chunk);
    let seconds = start.elapsed().as_secs_f64();
    if args.json {
        serde_json::to_writer(
            &mut *out,
            &json!({"tensors": tensors, "chunks": chunks, "tokens": tokens, "seconds": seconds}),
        )?;
        return Ok(writeln!(out)?);
    }
    let path = args.output.display();
    Ok(writeln!(out, "{path}: importances of {tensors} tensors from {tokens} tokens in {chunks} chunks")?)
}
