//! `store verify`: verifies all checksums.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::damage::{self, Examined};
use crate::error::CliError;
use crate::number::Size;

/// Read the whole store and verify every checksum. Changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code: 0 no damage, 1 damage found, 2 the store could not be examined.

Examples:
  bitgrain store verify vectors.store
  bitgrain store verify vectors.store --json
  bitgrain store salvage vectors.store rescued.store     copy the readable part")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let found = Examined::of(&args.path)?;
    if args.json {
        let about = json!({
            "opens": found.opens,
            "segments": found.report.segments,
            "records": found.report.records,
            "bytes": found.report.bytes,
            "torn_bytes": found.recovery.torn_bytes,
            "torn_records": found.recovery.torn_records,
            "leftovers": found.recovery.leftovers,
            "damages": found.damages.iter().map(damage::to_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{about:#}")?;
    } else {
        write_text(&found, out)?;
    }
    if found.damages.is_empty() {
        return Ok(());
    }
    out.flush()?;
    Err(CliError::Damaged { count: found.damages.len(), path: args.path.clone() })
}

fn write_text(found: &Examined, out: &mut impl Write) -> Result<(), CliError> {
    let report = &found.report;
    writeln!(out, "read {} records in {} segments, {}", report.records, report.segments, Size(report.bytes))?;
    if found.recovery.torn_bytes > 0 {
        writeln!(
            out,
            "{} bytes at the end ({} complete records) are not acknowledged: a write in progress or interrupted; the next \
             process that opens the store for writing removes it",
            found.recovery.torn_bytes, found.recovery.torn_records
        )?;
    }
    if found.damages.is_empty() {
        return Ok(writeln!(out, "no damage found")?);
    }
    if !found.opens {
        writeln!(out, "the store does not open because of this damage:")?;
    }
    writeln!(out, "\n{}", damage::table(&found.damages))?;
    Ok(())
}
