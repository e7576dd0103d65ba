//! The `bitgrain` command as a library, used by the binary and the Python package: parses the arguments, runs a command
//! and returns its exit code.
//!
//! Exit codes are 0 for success, 1 for a negative answer (a failed check) and 2 for an error. A reader that closes the
//! pipe early is not an error.

#[cfg(all(feature = "parquet", panic = "abort"))]
compile_error!(
    "the feature `parquet` catches panics of the Parquet library on corrupt files; build with `--profile dist`"
);

mod boost;
mod cmd;
mod device;
mod error;
mod interrupt;
mod number;
mod output;
mod printable;
mod progress;
mod size;
mod table;
mod threads;
mod tour;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;

use crate::error::CliError;

/// Quantization engine for machine learning: tensors, model files, gradient-boosted trees and a tensor store
#[derive(Debug, Parser)]
#[command(name = "bitgrain", version, arg_required_else_help = true, after_help = EXAMPLES)]
enum Cli {
    Inspect(cmd::inspect::Args),
    Bin(Box<cmd::bin::Args>),
    Train(Box<cmd::train::Args>),
    Predict(cmd::predict::Args),
    Explain(cmd::explain::Args),
    Cv(Box<cmd::cv::Args>),
    Refit(cmd::refit::Args),
    ConvertModel(cmd::convert_model::Args),
    Quantize(Box<cmd::quantize::Args>),
    Compare(cmd::compare::Args),
    Store(cmd::store::Args),
    Embed(cmd::embed::Args),
    Generate(Box<cmd::language::generate::Args>),
    Perplexity(cmd::language::perplexity::Args),
    Imatrix(cmd::language::imatrix::Args),
    Tour(cmd::tour::Args),
    Info(cmd::info::Args),
    Completions(cmd::completions::Args),
}

const EXAMPLES: &str = "Examples:
  bitgrain tour                      demonstration on small data
  bitgrain tour codec --json         one chapter, as JSON
  bitgrain train data.csv --target price --model m.bitgrain
  bitgrain bin 'part-*.parquet' --target price -o table.bins
  bitgrain predict m.bitgrain new.csv -o predictions.csv
  bitgrain explain m.bitgrain new.csv
  bitgrain inspect model.gguf        metadata and tensors of a model file
  bitgrain quantize model.safetensors model-q4.gguf --to q4_k
  bitgrain compare a.gguf b.gguf     error of every tensor
  bitgrain store import tensors.store model.safetensors
  bitgrain embed all-MiniLM-L6-v2 'a sentence' --to int8 --json
  bitgrain generate model.gguf --prompt 'Once upon a time'
  bitgrain perplexity model-q4.gguf --text wiki.txt --reference model-f16.gguf
  bitgrain info                      version and instruction sets in use
  bitgrain completions bash > ~/.local/share/bash-completion/completions/bitgrain";

/// Runs the command with these arguments, starting with the program's name, and returns its exit code.
///
/// Writes to the standard streams of the process.
#[must_use]
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            return match error.print() {
                Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
                    eprintln!("error: {}", CliError::from(failed));
                    2
                }
                // A closed pipe is not an error: `head` closes it, for example.
                _ => u8::try_from(error.exit_code()).unwrap_or(2),
            };
        }
    };
    let mut out = io::stdout().lock();
    let result = match &cli {
        Cli::Quantize(args) => cmd::quantize::run(args, &mut out),
        Cli::Tour(args) => cmd::tour::run(args, &mut out),
        Cli::Train(args) => cmd::train::run(args, &mut out),
        Cli::Predict(args) => cmd::predict::run(args, &mut out),
        Cli::Explain(args) => cmd::explain::run(args, &mut out),
        Cli::Cv(args) => cmd::cv::run(args, &mut out),
        Cli::Refit(args) => cmd::refit::run(args, &mut out),
        Cli::ConvertModel(args) => cmd::convert_model::run(args, &mut out),
        Cli::Bin(args) => cmd::bin::run(args, &mut out),
        Cli::Inspect(args) => cmd::inspect::run(args, &mut out),
        Cli::Compare(args) => cmd::compare::run(args, &mut out),
        Cli::Store(args) => cmd::store::run(args, &mut out),
        Cli::Embed(args) => cmd::embed::run(args, &mut out),
        Cli::Generate(args) => cmd::language::generate::run(args, &mut out),
        Cli::Perplexity(args) => cmd::language::perplexity::run(args, &mut out),
        Cli::Imatrix(args) => cmd::language::imatrix::run(args, &mut out),
        Cli::Info(args) => cmd::info::run(args, &mut out),
        Cli::Completions(args) => cmd::completions::run::<Cli>(args, &mut out),
    };
    match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => 0,
        Err(error) if error.is_broken_pipe() => 0,
        Err(error @ (CliError::Damaged { .. } | CliError::Lost { .. })) => {
            eprintln!("{error}");
            1
        }
        Err(error) => {
            // Tensor names come from files, so they may be of any length and contain any characters.
            eprintln!("error: {}", printable::shortened(&error.to_string(), 2000));
            2
        }
    }
}
