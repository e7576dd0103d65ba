//! `store rm`: deletes tensors.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::Dependents;
use serde_json::json;

use super::id::Id;
use super::session::{close, open};
use crate::error::CliError;
use crate::printable::counted;

/// Delete tensors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store rm vectors.store mean
  bitgrain store rm vectors.store '#7' '#8'")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Ids of the tensors.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Id>,
    /// First materialize the tensors that are reconstructed from a deleted one; without this option, they block the
    /// deletion.
    #[arg(long, alias = "materialise")]
    materialize: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open(&args.path)?;
    // Check all ids before anything is deleted.
    for id in &args.ids {
        store.meta(&id.0).map_err(CliError::store(&args.path))?;
    }
    for id in &args.ids {
        let dependents = if args.materialize { Dependents::Materialize } else { Dependents::Refuse };
        store.delete(&id.0, dependents).map_err(CliError::store(&args.path))?;
    }
    close(store, &args.path)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({"deleted": args.ids.len()}))?);
    }
    let count = counted(args.ids.len() as u64, "tensor");
    writeln!(out, "deleted {count}; `bitgrain store compact` frees the space")?;
    Ok(())
}
