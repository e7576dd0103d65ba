//! `store stat`: statistics.

use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain::store::{StoreStats, TensorStore, TierStats};
use serde_json::{Value, json};

use super::arguments::shape;
use super::id::{Id, shown};
use super::session::open_read_only;
use super::{chart, ls};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

/// Show the tiers of a store as a chart, or the metadata of one tensor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store stat vectors.store
  bitgrain store stat vectors.store mean")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of a tensor.
    #[arg(value_name = "ID")]
    id: Option<Id>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_read_only(&args.path)?;
    if let Some(id) = &args.id {
        return of_tensor(&store, &args.path, id, args.json, out);
    }
    let stats = store.stats().map_err(CliError::store(&args.path))?;
    if args.json {
        return Ok(writeln!(out, "{:#}", to_json(&stats))?);
    }
    let segments = if stats.segments == 1 { "segment" } else { "segments" };
    writeln!(
        out,
        "{} tensors in {} of {} {segments}, {} of it garbage",
        stats.tensors,
        Size(stats.file_bytes),
        stats.segments,
        Size(stats.garbage_bytes),
    )?;
    if stats.temporal > 0 {
        writeln!(out, "{} of them temporal, with {} frames", stats.temporal, stats.frames)?;
    }
    writeln!(out)?;
    chart::write(&stats, out)?;
    Ok(())
}

fn of_tensor(store: &TensorStore, path: &Path, id: &Id, json: bool, out: &mut impl Write) -> Result<(), CliError> {
    let meta = store.meta(&id.0).map_err(CliError::store(path))?;
    if json {
        return Ok(writeln!(out, "{:#}", ls::to_json(&meta))?);
    }
    let mut table = Table::new(&["property", "value"], 1);
    let mut line = |what: &str, value: String| table.row([what.to_owned(), value]);
    line("id", shown(&meta.id));
    line("shape", shape(&meta.shape));
    if let Some(frames) = meta.frames {
        line("frames", frames.to_string());
    }
    line("tier", format!("{}, {} bits", meta.provenance.tier.name(), meta.provenance.bits));
    line("wanted tier", meta.wanted.name().to_owned());
    line("bytes", meta.stored_bytes.to_string());
    if meta.provenance.bound.is_finite() {
        line("error bound", digits(f64::from(meta.provenance.bound)));
        line("measured error", digits(f64::from(meta.provenance.measured)));
    }
    line("score", format!("{:.0} of 1024", meta.score));
    line("accesses", meta.accesses.to_string());
    line("pinned", meta.pinned.map_or("no", bitgrain::store::Tier::name).to_owned());
    line("error limit", meta.max_error.map_or_else(|| "none".to_owned(), |most| digits(f64::from(most))));
    line("reconstructable", if meta.reconstructable { "yes" } else { "no" }.to_owned());
    for (key, value) in &meta.user {
        line(&crate::printable::shortened(key, 40), crate::printable::shortened(value, 80));
    }
    writeln!(out, "{table}")?;
    Ok(())
}

fn to_json(stats: &StoreStats) -> Value {
    let tier = |tier: &TierStats| {
        json!({
            "tier": tier.tier.name(),
            "tensors": tier.tensors,
            "bytes": tier.bytes,
            "f32_bytes": tier.f32_bytes,
            "worst_bound": tier.worst_bound,
        })
    };
    json!({
        "tensors": stats.tensors,
        "temporal": stats.temporal,
        "frames": stats.frames,
        "segments": stats.segments,
        "file_bytes": stats.file_bytes,
        "live_bytes": stats.live_bytes,
        "garbage_bytes": stats.garbage_bytes,
        "tiers": stats.tiers.iter().map(tier).collect::<Vec<_>>(),
    })
}
