//! `bitgrain info`: version and instruction sets.

use std::io::Write;

use bitgrain::kernels::Backend;
use serde_json::json;

use crate::error::CliError;

/// Show the version and the instruction sets in use.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain info
  bitgrain info --json")]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let version = env!("CARGO_PKG_VERSION");
    let backends: Vec<&str> = Backend::available().iter().map(|b| b.name()).collect();
    let best = Backend::best().name();
    if args.json {
        let report = json!({ "version": version, "backends": backends, "best": best });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(out, "bitgrain {version}")?;
        writeln!(out, "backends on this CPU: {} (using {best})", backends.join(", "))?;
    }
    Ok(())
}
