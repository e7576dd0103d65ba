//! `store compact`: reclaims disk space.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::CompactOptions;
use serde_json::json;

use super::session::open;
use crate::error::CliError;
use crate::number::Size;

/// Reclaim the space of deleted and replaced data, and merge small files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store compact vectors.store
  bitgrain store compact vectors.store --all        after deleting many tensors")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Rewrite all files, not only those with at least 25 % garbage.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open(&args.path)?;
    let options = CompactOptions { all: args.all, ..CompactOptions::default() };
    let report = store.compact(options).map_err(CliError::store(&args.path))?;
    store.close().map_err(CliError::store(&args.path))?;
    if args.json {
        let found = json!({
            "segments_removed": report.segments_removed,
            "segments_written": report.segments_written,
            "records": report.records,
            "bytes_removed": report.bytes_removed,
            "bytes_written": report.bytes_written,
        });
        return Ok(writeln!(out, "{found:#}")?);
    }
    if report.segments_removed == 0 {
        return Ok(writeln!(out, "nothing to compact; --all rewrites every file")?);
    }
    let (before, after) = (Size(report.bytes_removed), Size(report.bytes_written));
    writeln!(
        out,
        "replaced {} segments ({before}) with {} ({after})",
        report.segments_removed, report.segments_written
    )?;
    Ok(())
}
