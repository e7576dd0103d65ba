//! `store get`: reads a tensor, rows of it or frames.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::{Frame, Provenance, StoredTensor};
use serde_json::json;

use super::arguments::{Span, index, is_evicted, provenance, shape};
use super::id::{Id, shown, with_id, written};
use super::session::{open_read_only, record_access};
use super::sink::{Announced, write};
use crate::error::CliError;
use crate::number::digits;

/// Read a tensor, a range of its rows, or frames of a temporal tensor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store get vectors.store mean -o mean.npy
  bitgrain store get vectors.store words --rows 100..110
  bitgrain store get sensors.store room --frames 0.. -o room.npy")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the tensor.
    #[arg(value_name = "ID")]
    id: Id,
    /// Output file: .npy, .npz, .safetensors or .parquet; without it, the first values are printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Range of rows along the first axis, such as 2..5.
    #[arg(long, value_name = "A..B")]
    rows: Option<Span>,
    /// Range of frames of a temporal tensor, such as 2..5; without it, all frames.
    #[arg(long, value_name = "A..B", conflicts_with = "rows")]
    frames: Option<Span>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Maximum number of values printed.
const SHOWN: usize = 8;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let failed = || CliError::store(&args.path);
    let store = open_read_only(&args.path)?;
    let meta = store.meta(&args.id.0).map_err(failed())?;
    if is_evicted(&meta.provenance) && !meta.reconstructable {
        return Err(CliError::Gone { id: shown(&args.id.0) });
    }
    let mut frames = None;
    let tensor = match (meta.frames, args.rows) {
        (Some(count), None) => {
            let range = args.frames.map_or(0..count, |span| span.of(count));
            frames = Some(range.clone());
            stacked(&meta.shape, store.frames(&args.id.0, range).map_err(failed())?)
        }
        (_, Some(rows)) => {
            let count = meta.shape.first().map_or(1, |&rows| rows as u64);
            let range = rows.of(count);
            store.get_rows(&args.id.0, index(range.start)?..index(range.end)?).map_err(failed())?
        }
        (None, None) if args.frames.is_some() => return Err(CliError::NoFrames { id: shown(&args.id.0) }),
        (None, None) => store.get(&args.id.0).map_err(failed())?,
    };
    drop(store);
    let cost = tensor.provenance;
    if is_evicted(&cost) {
        return Err(CliError::Gone { id: shown(&args.id.0) });
    }
    record_access(&args.path, &meta, frames);
    if let Some(path) = &args.output {
        let announced = Announced { name: written(&args.id.0), shape: tensor.shape.clone() };
        let row: usize = tensor.shape.iter().skip(1).product();
        write(path, &[announced], &mut |_, rows| Ok(tensor.values[rows.start * row..rows.end * row].to_vec()))?;
    }
    if args.json {
        let mut found = json!({"shape": tensor.shape, "provenance": provenance(&cost)});
        match &args.output {
            Some(path) => found["output"] = json!(path),
            None => found["values"] = json!(tensor.values),
        }
        return Ok(writeln!(out, "{:#}", with_id(&args.id.0, found))?);
    }
    let (worst, bound) = (digits(f64::from(cost.measured)), digits(f64::from(cost.bound)));
    writeln!(
        out,
        "{} ({}): {}, {} bits, measured error {worst}, error bound {bound}",
        shown(&args.id.0),
        shape(&tensor.shape),
        cost.tier.name(),
        cost.bits,
    )?;
    match &args.output {
        Some(path) => writeln!(out, "wrote {}", path.display())?,
        None => {
            let first: Vec<String> = tensor.values.iter().take(SHOWN).map(|&value| digits(f64::from(value))).collect();
            let more = if tensor.values.len() > SHOWN { ", …" } else { "" };
            writeln!(out, "{}{more}", first.join(", "))?;
        }
    }
    Ok(())
}

/// Stacks frames into one tensor, with the lowest tier and the largest errors of them.
fn stacked(shape: &[usize], frames: Vec<Frame>) -> StoredTensor {
    let axes = std::iter::once(frames.len()).chain(shape.iter().copied()).collect();
    let worst = frames.iter().map(|frame| frame.provenance).reduce(|a, b| {
        let lower = if b.tier > a.tier { b } else { a };
        Provenance { bound: a.bound.max(b.bound), measured: a.measured.max(b.measured), ..lower }
    });
    let none = Provenance { tier: bitgrain::store::Tier::Hot, bits: 8, bound: 0.0, measured: 0.0, depth: 0 };
    StoredTensor {
        shape: axes,
        values: frames.into_iter().flat_map(|frame| frame.values).collect(),
        provenance: worst.unwrap_or(none),
    }
}
