//! `store init`: creates an empty store.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::StoreConfig;
use serde_json::json;

use super::session::{close, opened};
use crate::error::CliError;

/// Create an empty store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  bitgrain store init vectors.store")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = opened(&args.path, StoreConfig::default())?;
    let created = store.recovery().created;
    let tensors = store.len();
    close(store, &args.path)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({"path": args.path, "created": created, "tensors": tensors}))?);
    }
    let path = args.path.display();
    match created {
        true => writeln!(out, "created an empty store in {path}")?,
        false => writeln!(out, "{path} already contains a store, with {tensors} tensors")?,
    }
    Ok(())
}
