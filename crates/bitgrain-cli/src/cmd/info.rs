//! `bitgrain info`: version, instruction sets, graphics adapters.

use std::io::Write;

use bitgrain::kernels::Backend;
use serde_json::json;

use crate::device;
use crate::error::CliError;

/// Show the version, the instruction sets in use, and the graphics adapters if GPU support is included.
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
        let report = json!({ "version": version, "backends": backends, "best": best, "adapters": device::adapters() });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(out, "bitgrain {version}")?;
        writeln!(out, "backends on this CPU: {} (using {best})", backends.join(", "))?;
        match device::adapters() {
            None => writeln!(out, "graphics adapters: not included in this build; add the feature `gpu`")?,
            Some(adapters) if adapters.is_empty() => writeln!(out, "graphics adapters: none")?,
            Some(adapters) => {
                writeln!(out, "graphics adapters:")?;
                for adapter in adapters {
                    writeln!(out, "  {}", adapter.shown)?;
                }
            }
        }
    }
    Ok(())
}
