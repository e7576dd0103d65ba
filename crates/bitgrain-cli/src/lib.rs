//! The `bitgrain` command as a library: parses, calls a command, says the exit code. The program and the Python package
//! start it.
//!
//! Exit codes: 0 done, 1 "no" (a check that failed), 2 an error. A reader that closes the pipe early is no error.

mod boost;
mod cmd;
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

/// One quantization engine for the numbers machine learning runs on.
#[derive(Debug, Parser)]
#[command(name = "bitgrain", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
enum Cli {
    Inspect(cmd::inspect::Args),
    Train(Box<cmd::train::Args>),
    Predict(cmd::predict::Args),
    Cv(Box<cmd::cv::Args>),
    ConvertModel(cmd::convert_model::Args),
    Quantize(Box<cmd::quantize::Args>),
    Compare(cmd::compare::Args),
    Store(cmd::store::Args),
    Embed(cmd::embed::Args),
    Tour(cmd::tour::Args),
    Info(cmd::info::Args),
    Completions(cmd::completions::Args),
}

const EXAMPLES: &str = "Examples:
  bitgrain tour                      see what it can do, on small real work
  bitgrain tour codec --json         one chapter, for machines
  bitgrain train data.csv --target price --model m.bitgrain
  bitgrain predict m.bitgrain new.csv -o predictions.csv
  bitgrain inspect model.gguf        what a model file holds
  bitgrain quantize model.safetensors model-q4.gguf --to q4_k
  bitgrain compare a.gguf b.gguf     what is different between two models
  bitgrain store import tensors.store model.safetensors
  bitgrain embed all-MiniLM-L6-v2 'a sentence' --to int8 --json
  bitgrain info                      which instruction sets this CPU offers
  bitgrain completions bash > ~/.local/share/bash-completion/completions/bitgrain";

/// Runs the command with these words, the program's name first, and says its exit code.
///
/// Output goes to the process's own standard streams.
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
                // A reader that closed the pipe has seen enough.
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
        Cli::Cv(args) => cmd::cv::run(args, &mut out),
        Cli::ConvertModel(args) => cmd::convert_model::run(args, &mut out),
        Cli::Inspect(args) => cmd::inspect::run(args, &mut out),
        Cli::Compare(args) => cmd::compare::run(args, &mut out),
        Cli::Store(args) => cmd::store::run(args, &mut out),
        Cli::Embed(args) => cmd::embed::run(args, &mut out),
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
            // Names of tensors come from files, and may hold anything at any length.
            eprintln!("error: {}", printable::shortened(&error.to_string(), 2000));
            2
        }
    }
}
