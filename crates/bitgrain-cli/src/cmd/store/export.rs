//! `store export`: writes tensors to a file.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use bitgrain::nn::Progress;
use bitgrain::store::{StoreError, TensorId, TensorMeta, TensorStore};
use serde_json::json;

use super::arguments::{index, is_evicted};
use super::id::written;
use super::session::{open_read_only, scan};
use super::sink::{Announced, check, write};
use crate::error::CliError;
use crate::printable::counted;
use crate::progress::Bar;

/// Write tensors to one file as f32. Temporal tensors get a frame axis; evicted tensors are skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store export vectors.store all.safetensors
  bitgrain store export vectors.store layers.npz --prefix layers/")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Output file: .npz, .safetensors, .parquet (vectors of equal length) or .npy (one tensor).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Export only ids that start with this prefix.
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_read_only(&args.path)?;
    let failed = || CliError::store(&args.path);
    let (mut chosen, mut announced, mut gone) = (Vec::new(), Vec::new(), 0);
    for meta in scan(&store, args.prefix.as_deref()) {
        let meta = meta.map_err(failed())?;
        if is_lost(&store, &meta).map_err(failed())? {
            gone += 1;
            continue;
        }
        let frames = meta.frames.map(index).transpose()?;
        let shape = frames.into_iter().chain(meta.shape.iter().copied()).collect();
        announced.push(Announced { name: written(&meta.id), shape });
        chosen.push((meta.id, meta.frames.is_some()));
    }
    check(&args.file, &announced)?;
    let values = |tensor: &Announced| tensor.shape.iter().product::<usize>() as u64;
    let bar = Bar::new(announced.iter().map(values).sum::<u64>() * 4, "exporting");
    write(&args.file, &announced, &mut |at, rows| {
        let (id, temporal) = &chosen[at];
        bar.tensor(&announced[at].name);
        let values = read(&store, id, *temporal, rows).map_err(failed())?;
        bar.add(values.len() as u64 * 4);
        Ok(values)
    })?;
    bar.finish();
    let count = chosen.len();
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({"exported": count, "skipped": gone, "file": args.file}))?);
    }
    let left_out = if gone == 0 { String::new() } else { format!(", skipped {gone} without data") };
    writeln!(out, "exported {} to {}{left_out}", counted(count as u64, "tensor"), args.file.display())?;
    Ok(())
}

/// Returns whether the values of a tensor can no longer be read.
fn is_lost(store: &TensorStore, meta: &TensorMeta) -> Result<bool, StoreError> {
    // A failed reconstruction is only noticed by attempting it.
    Ok(is_evicted(&meta.provenance) && (!meta.reconstructable || is_evicted(&store.get(&meta.id)?.provenance)))
}

/// Reads rows of a tensor, or frames of a temporal one.
fn read(store: &TensorStore, id: &TensorId, temporal: bool, rows: Range<usize>) -> Result<Vec<f32>, StoreError> {
    if temporal {
        let frames = store.frames(id, rows.start as u64..rows.end as u64)?;
        return Ok(frames.into_iter().flat_map(|frame| frame.values).collect());
    }
    store.get_rows(id, rows).map(|tensor| tensor.values)
}
