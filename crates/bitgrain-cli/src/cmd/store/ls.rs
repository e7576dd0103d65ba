//! `store ls`: lists tensors.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::TensorMeta;
use serde_json::{Value, json};

use super::arguments::{provenance, shape};
use super::id::{shown, with_id};
use super::session::{open_read_only, scan};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

/// List tensors sorted by id: names before numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store ls vectors.store
  bitgrain store ls vectors.store layers/
  bitgrain store ls vectors.store '#7'        numbers that start with 7")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// List only ids that start with this prefix.
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_read_only(&args.path)?;
    let mut table = Table::new(&["id", "shape", "frames", "tier", "wanted", "bytes", "error bound", "score"], 1);
    let mut list = Vec::new();
    for meta in scan(&store, args.prefix.as_deref()) {
        let meta = meta.map_err(CliError::store(&args.path))?;
        if args.json {
            list.push(to_json(&meta));
            continue;
        }
        table.row([
            shown(&meta.id),
            shape(&meta.shape),
            meta.frames.map_or_else(String::new, |frames| frames.to_string()),
            meta.provenance.tier.name().to_owned(),
            meta.wanted.name().to_owned(),
            Size(meta.stored_bytes).to_string(),
            if meta.provenance.bound.is_finite() { digits(f64::from(meta.provenance.bound)) } else { "–".to_owned() },
            format!("{:.0}", meta.score),
        ]);
    }
    if args.json {
        return Ok(writeln!(out, "{:#}", Value::Array(list))?);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

pub(super) fn to_json(meta: &TensorMeta) -> Value {
    let user: serde_json::Map<String, Value> =
        meta.user.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    let about = json!({
        "shape": meta.shape,
        "frames": meta.frames,
        "provenance": provenance(&meta.provenance),
        "wanted": meta.wanted.name(),
        "bytes": meta.stored_bytes,
        "created": meta.created,
        "updated": meta.updated,
        "accessed": meta.accessed,
        "accesses": meta.accesses,
        "score": meta.score,
        "pinned": meta.pinned.map(bitgrain::store::Tier::name),
        "max_error": meta.max_error,
        "reconstructable": meta.reconstructable,
        "user": user,
    });
    with_id(&meta.id, about)
}
