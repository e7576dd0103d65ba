//! `store rm`: tensors out for good.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::Dependents;
use serde_json::json;

use super::arguments::{Id, close, open};
use crate::error::CliError;

/// Delete tensors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The tensors.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Id>,
    /// Give tensors that are reconstructed from these data of their own; else such a tensor is not deleted.
    #[arg(long)]
    materialise: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open(&args.path)?;
    // Before anything is deleted.
    for id in &args.ids {
        store.meta(&id.0).map_err(CliError::store(&args.path))?;
    }
    for id in &args.ids {
        let dependents = if args.materialise { Dependents::Materialise } else { Dependents::Refuse };
        store.delete(&id.0, dependents).map_err(CliError::store(&args.path))?;
    }
    close(store, &args.path)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({"deleted": args.ids.len()}))?);
    }
    writeln!(out, "deleted {} of {}; `bitgrain store compact` frees the space", args.ids.len(), args.ids.len())?;
    Ok(())
}
