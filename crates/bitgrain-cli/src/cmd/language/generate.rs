//! `bitgrain generate`: continues a text with a language model.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread;

use bitgrain::nn::network::language::{CacheFormat, Generation, LanguageModel, Sampling, Stop};
use serde::Serialize;

use super::read_text;
use crate::error::CliError;
use crate::threads::on_threads;

/// Generate text with a language model.
///
/// MODEL is a GGUF file with a tokenizer. The model runs on the quantized weights, without converting them. Architectures: llama (Llama,
/// Mistral, Mixtral, SmolLM 1 and 2), qwen2, qwen3, qwen3moe, gemma3, phi3, smollm3. The continuation is printed as it
/// is generated. The same seed gives the same text on every machine and with any number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain generate model.gguf --prompt 'Once upon a time' --max-tokens 100
  bitgrain generate model.gguf --prompt 'Why is the sky blue?' --chat
  bitgrain generate model.gguf --file prompt.txt --temperature 0 --json
  bitgrain generate model.gguf --prompt 'A long story:' --cache q8_0 --threads 2")]
pub(crate) struct Args {
    /// Language model: a GGUF file.
    model: PathBuf,
    /// Text to continue, or the user message with --chat.
    #[arg(long, value_name = "TEXT", required_unless_present = "file")]
    prompt: Option<String>,
    /// File with the text to continue; - reads standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    file: Option<PathBuf>,
    /// Apply the model's chat template to the prompt.
    #[arg(long)]
    chat: bool,
    /// System message, for example instructions.
    #[arg(long, value_name = "TEXT", requires = "chat")]
    system: Option<String>,
    /// Maximum number of generated tokens.
    #[arg(long, value_name = "N", default_value_t = 128)]
    max_tokens: usize,
    /// Divisor of the logits; 0 always chooses the most likely token.
    #[arg(long, value_name = "T", default_value_t = 0.8)]
    temperature: f32,
    /// Number of most likely tokens to sample from; 0 means no limit.
    #[arg(long, value_name = "K", default_value_t = 40)]
    top_k: usize,
    /// Sample from the fewest most likely tokens whose probabilities sum to at least this value; 1 means all.
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    top_p: f32,
    /// Minimum probability of a token, relative to the most likely one.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    min_p: f32,
    /// Penalty on repeating one of the last 64 tokens; 1 disables it.
    #[arg(long, value_name = "PENALTY", default_value_t = 1.0)]
    repeat_penalty: f32,
    /// Random seed.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Maximum number of tokens, prompt and continuation together [default: context length of the model].
    #[arg(long, value_name = "N")]
    context: Option<usize>,
    /// Format of the cached keys and values: f32, f16, q8_0, iq4_nl or q4_0.
    #[arg(long, value_name = "FORMAT", default_value = "f16")]
    cache: CacheFormat,
    /// Number of threads [default: all cores]; the text does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print JSON at the end instead of printing the text as it is generated.
    #[arg(long)]
    json: bool,
}

/// Report of the command.
#[derive(Serialize)]
struct Report<'a> {
    text: &'a str,
    tokens: &'a [u32],
    prompt_tokens: usize,
    stop: &'static str,
    seconds_to_first_token: f64,
    prompt_tokens_per_second: f64,
    tokens_per_second: f64,
    weight_bytes: usize,
    cache_bytes: usize,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let prompt = match (&args.prompt, &args.file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(path)) => read_text(path)?,
        (None, None) => String::new(),
    };
    let (send, pieces) = mpsc::channel();
    let mut text = String::new();
    // Standard output belongs to this thread, the model runs on those of the pool.
    let (model, generation, count) = thread::scope(|scope| {
        let worker = scope.spawn(|| on_threads(args.threads, || generate(args, &prompt, send)));
        let mut written = Ok(());
        for piece in pieces {
            text.push_str(&piece);
            if !args.json {
                written = write!(out, "{piece}").and_then(|()| out.flush());
            }
            if written.is_err() {
                // Without a receiver, the generation stops.
                break;
            }
        }
        let generation = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written?;
        generation?
    })?;
    let report = report(&model, &generation, &text, count);
    if args.json {
        serde_json::to_writer(&mut *out, &report)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out)?;
    eprintln!(
        "{} tokens, {:.1} tokens/s (prompt: {count} tokens, {:.1} tokens/s); {:.1} MB of weights, {:.1} MB of cache",
        generation.tokens.len(),
        report.tokens_per_second,
        report.prompt_tokens_per_second,
        megabytes(report.weight_bytes),
        megabytes(report.cache_bytes),
    );
    Ok(())
}

/// Generates the text and sends its pieces.
fn generate(args: &Args, prompt: &str, pieces: Sender<String>) -> Result<(LanguageModel, Generation, usize), CliError> {
    let model = LanguageModel::open_with(&args.model, args.context)?;
    let tokens =
        if args.chat { model.chat(args.system.as_deref(), prompt)? } else { model.tokenizer().encode(prompt, false) };
    let sampling = Sampling {
        repeat_penalty: args.repeat_penalty,
        top_k: args.top_k,
        top_p: args.top_p,
        min_p: args.min_p,
        temperature: args.temperature,
        seed: args.seed,
        ..Sampling::default()
    };
    let generation = model
        .generate(&tokens, args.max_tokens, sampling, args.cache, |piece| pieces.send(piece.to_owned()).is_ok())?;
    Ok((model, generation, tokens.len()))
}

#[expect(clippy::cast_precision_loss, reason = "to show")]
fn report<'a>(model: &LanguageModel, generation: &'a Generation, text: &'a str, prompt: usize) -> Report<'a> {
    // The first token comes from the prompt's logits, and each further one from another pass.
    let passes = generation.tokens.len().saturating_sub(1) as f64;
    Report {
        text,
        tokens: &generation.tokens,
        prompt_tokens: prompt,
        stop: match generation.stop {
            Stop::End => "end",
            Stop::Length => "length",
            Stop::Context => "context",
            Stop::Caller => "caller",
        },
        seconds_to_first_token: generation.prompt_seconds,
        prompt_tokens_per_second: prompt as f64 / generation.prompt_seconds.max(1e-9),
        tokens_per_second: passes / generation.seconds.max(1e-9),
        weight_bytes: model.decoder().bytes(),
        cache_bytes: generation.cache_bytes,
    }
}

#[expect(clippy::cast_precision_loss, reason = "to show")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
