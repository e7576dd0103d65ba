//! `store verify`: every byte is as it was written, or it is said which is not.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::nn::Size;
use bitgrain::store::Damage;
use serde_json::json;

use super::arguments::open_to_look;
use crate::error::CliError;
use crate::printable::shortened;
use crate::table::Table;

/// Read every byte of a store and compare every checksum. Exit code 1 if something is damaged.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_to_look(&args.path)?;
    let report = store.verify().map_err(CliError::store(&args.path))?;
    let id = |damage: &Damage| damage.id.as_ref().map(|id| shortened(&id.to_string(), 60));
    if args.json {
        let one = |damage: &Damage| json!({"segment": damage.segment, "offset": damage.offset, "id": id(damage), "what": damage.what});
        let found = json!({
            "segments": report.segments,
            "records": report.records,
            "bytes": report.bytes,
            "damages": report.damages.iter().map(one).collect::<Vec<_>>(),
        });
        writeln!(out, "{found:#}")?;
    } else {
        writeln!(out, "read {} records in {} segments, {}", report.records, report.segments, Size(report.bytes))?;
    }
    if report.is_clean() {
        return if args.json { Ok(()) } else { Ok(writeln!(out, "all is as it was written")?) };
    }
    if !args.json {
        let mut table = Table::new(&["file", "offset", "tensor", "what"], 1);
        for damage in &report.damages {
            let id = id(damage).unwrap_or_else(|| "–".to_owned());
            table.row([damage.segment.clone(), damage.offset.to_string(), id, damage.what.clone()]);
        }
        writeln!(out, "\n{table}")?;
    }
    out.flush()?;
    Err(CliError::Damaged { count: report.damages.len() })
}
