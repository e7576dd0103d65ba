//! `store sync`: updates a replica with what is missing.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::session::open_read_only;
use crate::error::CliError;
use crate::number::Size;
use crate::printable::counted;

/// Copy a store to another folder or address, or update an earlier copy with what is missing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Either one may be a folder or an address such as s3://bucket/prefix, with credentials from the environment. \
The store may be in use. The copy can be read like any store, but only `sync` may write to it.

Examples:
  bitgrain store sync vectors.store copy.store
  bitgrain store sync vectors.store s3://bucket/copy
  bitgrain store sync s3://bucket/copy restored.store"
)]
pub(crate) struct Args {
    /// Folder or address of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Folder or address of the copy; created if it does not exist.
    #[arg(value_name = "COPY")]
    copy: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_read_only(&args.path)?;
    let report = store.sync_to(&args.copy).map_err(CliError::store(&args.copy))?;
    if args.json {
        let found = json!({
            "segments_copied": report.segments_copied,
            "bytes_copied": report.bytes_copied,
            "segments_kept": report.segments_kept,
            "segments_removed": report.segments_removed,
        });
        return Ok(writeln!(out, "{found:#}")?);
    }
    let copied = counted(report.segments_copied as u64, "segment");
    writeln!(
        out,
        "copied {copied} ({}); {} already there, {} removed",
        Size(report.bytes_copied),
        report.segments_kept,
        report.segments_removed
    )?;
    Ok(())
}
