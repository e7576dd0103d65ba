//! `store verify`: every byte is as it was written, or it is said which is not.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use super::damage::{self, Examined};
use crate::error::CliError;
use crate::number::Size;

/// Read every byte of a store and compare every checksum. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code: 0 all is as it was written, 1 something is damaged, 2 there is nothing to examine.

Examples:
  bitgrain store verify vectors.store
  bitgrain store verify vectors.store --json
  bitgrain store salvage vectors.store rescued.store     what to do about damage")]
pub(crate) struct Args {
    /// The store.
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
            "{} bytes at the end ({} whole records) are not acknowledged: a write under way, or one that was cut short, \
             which the next process that opens the store for writing removes",
            found.recovery.torn_bytes, found.recovery.torn_records
        )?;
    }
    if found.damages.is_empty() {
        return Ok(writeln!(out, "all is as it was written")?);
    }
    if !found.opens {
        writeln!(out, "the store does not open as it is; this is what is wrong with it")?;
    }
    writeln!(out, "\n{}", damage::table(&found.damages))?;
    Ok(())
}
