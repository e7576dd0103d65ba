//! `store append`: frames to a temporal tensor.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::store::{Clock, SystemClock};
use serde_json::json;

use super::arguments::{Id, close, open_for_many};
use super::files::Source;
use crate::error::CliError;

/// Append frames to a temporal tensor: the first axis of the file counts them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store append sensors.store room readings.npy          an array of frames x values
  bitgrain store append sensors.store room one.npy --one         the array is one frame")]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The temporal tensor; made if it is not there.
    #[arg(value_name = "ID")]
    id: Id,
    /// Where the values are: .npy, .npz, .safetensors, .gguf, .parquet or .csv.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which tensor of the file, if there are several.
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// The array is one frame.
    #[arg(long)]
    one: bool,
    /// Time of the first frame, in any unit; the next ones are one later each. Milliseconds since 1970 if not given.
    #[arg(long, value_name = "T")]
    time: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let tensor = Source::open(&args.file)?.one(&args.file, args.tensor.as_deref())?;
    let (count, shape) = match tensor.shape.split_first() {
        Some((count, rest)) if !args.one => (*count, rest.to_vec()),
        _ => (1, tensor.shape.clone()),
    };
    let store = open_for_many(&args.path)?;
    let time = args.time.unwrap_or_else(|| SystemClock.now());
    let len = tensor.values.len() / count.max(1);
    let size = || store.meta(&args.id.0).map_or(0, |meta| meta.stored_bytes);
    let before = size();
    // All or none.
    let mut batch = store.batch();
    for frame in 0..count {
        let values = &tensor.values[frame * len..(frame + 1) * len];
        batch.append(&args.id.0, &shape, values, time.saturating_add(frame as u64));
    }
    batch.commit().map_err(CliError::store(&args.path))?;
    store.flush().map_err(CliError::store(&args.path))?;
    let bytes = size().saturating_sub(before);
    let frames = if count == 0 { 0 } else { store.frame_count(&args.id.0).map_err(CliError::store(&args.path))? };
    close(store, &args.path)?;
    let f32_bytes = tensor.values.len() * 4;
    if args.json {
        let id = args.id.0.to_string();
        let found = json!({"id": id, "appended": count, "frames": frames, "bytes": bytes, "f32_bytes": f32_bytes});
        return Ok(writeln!(out, "{found:#}")?);
    }
    writeln!(out, "appended {count} frames to {}: {bytes} bytes for {f32_bytes} of f32; it has {frames}", args.id.0)?;
    Ok(())
}
