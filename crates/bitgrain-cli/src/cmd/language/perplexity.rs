//! `bitgrain perplexity`: measures how well a language model predicts a text, and how far it is from a reference.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use bitgrain::nn::network::language::{
    CacheFormat, Divergence, Estimate, LanguageModel, Perplexity, PerplexityOptions,
};
use serde_json::json;

use super::read_text;
use crate::error::CliError;
use crate::progress::RoundBar;
use crate::table::Table;
use crate::threads::on_threads;

/// Measure the perplexity of a language model on a text.
///
/// The text is split into chunks of tokens, and the second half of each chunk is scored, as llama.cpp's llama-perplexity
/// does. With --reference, the predictions are also compared with those of another model with the same tokenizer, usually
/// the one before quantization: Kullback-Leibler divergence, and share of predictions with the same most likely token.
/// Standard errors assume independent predictions.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain perplexity model-q4.gguf --text wiki.test.raw
  bitgrain perplexity model-q4.gguf --text wiki.test.raw --reference model-f16.gguf
  bitgrain perplexity model-q4.gguf --text wiki.test.raw --chunks 20 --cache q8_0 --json")]
pub(crate) struct Args {
    /// Language model: a GGUF file.
    model: PathBuf,
    /// Text file, UTF-8; - reads standard input.
    #[arg(long, value_name = "FILE")]
    text: PathBuf,
    /// Model to compare with: a GGUF file with the same tokenizer.
    #[arg(long, value_name = "MODEL")]
    reference: Option<PathBuf>,
    /// Tokens per chunk.
    #[arg(long, value_name = "N", default_value_t = 512)]
    chunk: usize,
    /// Maximum number of chunks [default: all].
    #[arg(long, value_name = "N")]
    chunks: Option<NonZeroUsize>,
    /// Format of the cached keys and values of MODEL: f32, f16, q8_0, iq4_nl or q4_0.
    #[arg(long, value_name = "FORMAT", default_value = "f16")]
    cache: CacheFormat,
    /// Number of threads [default: all cores]; the result does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let text = read_text(&args.text)?;
    let (found, bytes) = on_threads(args.threads, || measure(args, &text))??;
    if args.json {
        let mut report = measures(&found);
        report["weight_bytes"] = json!(bytes);
        serde_json::to_writer(&mut *out, &report)?;
        return Ok(writeln!(out)?);
    }
    write_measures(&found, out)?;
    writeln!(out)?;
    let rate = rate(&found, args.chunk);
    Ok(writeln!(out, "{} predictions in {} chunks, {rate:.0} tokens/s", found.predictions, found.chunks)?)
}

/// Prints a table of all measures with their standard errors.
pub(crate) fn write_measures(found: &Perplexity, out: &mut impl Write) -> Result<(), CliError> {
    let mut table = Table::new(&["measure", "value", "standard error"], 1);
    rows(found).into_iter().for_each(|row| table.row(row));
    Ok(write!(out, "{table}")?)
}

/// Returns the name of each measure, its value and its standard error.
pub(crate) fn rows(found: &Perplexity) -> Vec<[String; 3]> {
    let row = |name: &str, estimate: Estimate| [name.into(), shown(estimate.mean), shown(estimate.error)];
    let mut rows = vec![row("perplexity", found.perplexity()), row("loss (nats per token)", found.loss)];
    if let Some(divergence) = &found.divergence {
        rows.extend([
            row("perplexity of the reference", divergence.reference_perplexity()),
            row("difference of the losses", divergence.loss),
            row("KL divergence (nats)", divergence.divergence),
            row("same most likely token (share)", divergence.same_top),
            ["KL divergence, median".into(), shown(divergence.median), String::new()],
            ["KL divergence, 99th percentile".into(), shown(divergence.percentile), String::new()],
        ]);
    }
    rows
}

fn measure(args: &Args, text: &str) -> Result<(Perplexity, usize), CliError> {
    let model = LanguageModel::open(&args.model)?;
    let reference = args.reference.as_ref().map(LanguageModel::open).transpose()?;
    let options =
        PerplexityOptions { chunk: args.chunk, chunks: args.chunks.map(NonZeroUsize::get), cache: args.cache };
    let bar = RoundBar::of("measuring", "chunks");
    let found = model.perplexity(text, reference.as_ref(), options, |done, all, loss| {
        bar.at(done, all, &format!("perplexity {:.4}", loss.exp()));
    })?;
    bar.finish();
    Ok((found, model.decoder().bytes()))
}

/// Returns all measures as JSON.
pub(crate) fn measures(found: &Perplexity) -> serde_json::Value {
    let estimate = |estimate: Estimate| json!({"mean": estimate.mean, "standard_error": estimate.error});
    let mut report = json!({
        "chunks": found.chunks,
        "predictions": found.predictions,
        "perplexity": estimate(found.perplexity()),
        "loss": estimate(found.loss),
        "seconds": found.seconds,
    });
    if let Some(Divergence { loss, divergence, median, percentile, same_top, .. }) = &found.divergence {
        report["reference_perplexity"] =
            found.divergence.as_ref().map_or(serde_json::Value::Null, |all| estimate(all.reference_perplexity()));
        report["loss_difference"] = estimate(*loss);
        report["kl_divergence"] = estimate(*divergence);
        report["kl_divergence_median"] = json!(median);
        report["kl_divergence_99th_percentile"] = json!(percentile);
        report["same_top"] = estimate(*same_top);
    }
    report
}

fn shown(value: f64) -> String {
    format!("{value:.5}")
}

#[expect(clippy::cast_precision_loss, reason = "to show")]
fn rate(found: &Perplexity, chunk: usize) -> f64 {
    (found.chunks * chunk) as f64 / found.seconds.max(1e-9)
}
