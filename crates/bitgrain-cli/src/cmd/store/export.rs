//! `store export`: a file of tensors out.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::nn::Progress;
use serde_json::json;

use super::arguments::{is_gone, open_to_look, written};
use super::files::{Named, write};
use crate::error::CliError;
use crate::progress::Bar;

/// Write tensors to one file as f32. Temporal tensors get their frames as first axis; those whose data is gone are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store export vectors.store all.safetensors
  bitgrain store export vectors.store layers.npz --prefix layers/")]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The file: .npz, .safetensors, .parquet (vectors of one length only) or .npy (one tensor).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only ids that begin with this.
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_to_look(&args.path)?;
    let failed = || CliError::store(&args.path);
    let metas = store.scan(args.prefix.as_deref()).collect::<Result<Vec<_>, _>>().map_err(failed())?;
    let total = metas.iter().map(|meta| meta.stored_bytes).sum();
    let bar = Bar::new(total, "exporting");
    let mut tensors = Vec::with_capacity(metas.len());
    let mut gone = 0;
    for meta in metas {
        let name = written(&meta.id);
        bar.tensor(&name);
        tensors.push(match meta.frames {
            Some(count) => {
                let frames = store.frames(&meta.id, 0..count).map_err(failed())?;
                let shape = std::iter::once(frames.len()).chain(meta.shape).collect();
                Named { name, shape, values: frames.into_iter().flat_map(|frame| frame.values).collect() }
            }
            None => {
                let tensor = store.get(&meta.id).map_err(failed())?;
                if is_gone(&tensor.provenance) {
                    gone += 1;
                    continue;
                }
                Named { name, shape: tensor.shape, values: tensor.values }
            }
        });
        bar.add(meta.stored_bytes);
    }
    bar.finish();
    let count = tensors.len();
    write(&args.file, tensors)?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json!({"exported": count, "left_out": gone, "file": args.file}))?);
    }
    let left_out = if gone == 0 { String::new() } else { format!(", {gone} without data left out") };
    writeln!(out, "exported {count} tensors to {}{left_out}", args.file.display())?;
    Ok(())
}
