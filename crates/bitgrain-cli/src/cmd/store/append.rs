//! `store append`: appends frames to a temporal tensor.

use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain::codec::NonFinite;
use bitgrain::store::policy::PolicyConfig;
use bitgrain::store::{Clock, Dependents, StoreConfig, StoreError, SystemClock, TensorMeta, TensorStore};
use serde_json::json;

use super::id::{Id, shown, with_id};
use super::put::Limits;
use super::session::{close, for_many, opened};
use super::source::{Named, Source};
use crate::error::CliError;
use crate::printable::counted;

/// Append frames to a temporal tensor; the first axis of the array is the frame axis.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store append sensors.store room readings.npy                     array of frames x values
  bitgrain store append sensors.store room one.npy --one                    the array is a single frame
  bitgrain store append sensors.store room readings.npy --max-error 0.01    with a limit on the error
  bitgrain store append sensors.store room gaps.npy --non-finite zero")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the temporal tensor; created if it does not exist.
    #[arg(value_name = "ID")]
    id: Id,
    /// Input file: .npy, .npz, .safetensors, .gguf, .parquet or .csv.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Tensor or column to read, if the file has several.
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Treat the array as a single frame.
    #[arg(long)]
    one: bool,
    /// Timestamp of the first frame, in any unit; increases by 1 per frame [default: milliseconds since 1970].
    #[arg(long, value_name = "T")]
    time: Option<u64>,
    #[command(flatten)]
    limits: Limits,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let mut tensor = Source::open(&args.file)?.one(&args.file, args.tensor.as_deref())?;
    let (count, shape) = match tensor.shape.split_first() {
        Some((count, rest)) if !args.one => (*count, rest.to_vec()),
        _ => (1, tensor.shape.clone()),
    };
    let len = tensor.values.len() / count.max(1);
    let defaults = for_many();
    sanitize(&mut tensor, len, defaults.block_len.get(), args.limits.non_finite(), &args.file)?;
    // Pin and limit are set only after the first frame of a new tensor is written, so that frame is encoded at the
    // pin's tier, and with at least the default bits if there is a limit.
    let usual = defaults.policy.first_tier;
    let first_tier = args.limits.pin().map_or(usual, |pin| match args.limits.max_error() {
        Some(_) => pin.min(usual),
        None => pin,
    });
    let policy = PolicyConfig { first_tier, ..defaults.policy };
    let store = opened(&args.path, StoreConfig { policy, ..defaults })?;
    let before = match store.meta(&args.id.0) {
        Ok(meta) if meta.frames.is_none() => return Err(CliError::TakesNoFrames { id: shown(&args.id.0) }),
        Ok(meta) => Some(meta),
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => return Err(CliError::store(&args.path)(error)),
    };
    let time = args.time.unwrap_or_else(|| SystemClock.now());
    let frames = Frames { id: &args.id, shape: &shape, values: &tensor.values, len, time };
    if let Err(error) = frames.append(&store, count, &args.limits, before.is_none()) {
        undo(&store, &args.id, before.as_ref());
        return Err(CliError::store(&args.path)(error));
    }
    store.flush().map_err(CliError::store(&args.path))?;
    let (bytes, frames) = store.meta(&args.id.0).map_or((0, None), |meta| (meta.stored_bytes, meta.frames));
    let (bytes, frames) = (bytes.saturating_sub(before.map_or(0, |meta| meta.stored_bytes)), frames.unwrap_or(0));
    close(store, &args.path)?;
    let f32_bytes = tensor.values.len() * 4;
    if args.json {
        let found = json!({"appended": count, "frames": frames, "bytes": bytes, "f32_bytes": f32_bytes});
        return Ok(writeln!(out, "{:#}", with_id(&args.id.0, found))?);
    }
    let (id, count) = (shown(&args.id.0), counted(count as u64, "frame"));
    writeln!(out, "appended {count} to {id}: {bytes} bytes ({f32_bytes} as f32); {frames} frames in total")?;
    Ok(())
}

/// Replaces non-finite values like `put`, in blocks of a frame.
fn sanitize(tensor: &mut Named, len: usize, block: usize, policy: NonFinite, path: &Path) -> Result<(), CliError> {
    let Some(index) = tensor.values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    if policy == NonFinite::Reject {
        return Err(tensor.not_finite(path, index));
    }
    let frames = tensor.values.chunks_mut(len.max(1));
    frames.for_each(|frame| frame.chunks_mut(block).for_each(|block| policy.sanitize(block)));
    Ok(())
}

/// Frames to append.
struct Frames<'a> {
    id: &'a Id,
    shape: &'a [usize],
    values: &'a [f32],
    /// Values per frame.
    len: usize,
    time: u64,
}

impl Frames<'_> {
    /// Appends `count` frames. A new tensor gets its limits after the first frame, which already respects them.
    fn append(&self, store: &TensorStore, count: usize, limits: &Limits, new: bool) -> Result<(), StoreError> {
        let apart = if new && !limits.is_empty() { count.min(1) } else { 0 };
        self.commit(store, 0, apart)?;
        if let Some(tier) = limits.pin().filter(|_| count > 0) {
            store.pin(&self.id.0, Some(tier))?;
        }
        if let Some(most) = limits.max_error().filter(|_| count > 0) {
            store.set_max_error(&self.id.0, Some(most))?;
        }
        self.commit(store, apart, count)
    }

    /// Appends frames atomically.
    fn commit(&self, store: &TensorStore, from: usize, to: usize) -> Result<(), StoreError> {
        let mut batch = store.batch();
        for frame in from..to {
            let values = &self.values[frame * self.len..(frame + 1) * self.len];
            batch.append(&self.id.0, self.shape, values, self.time.saturating_add(frame as u64));
        }
        batch.commit()
    }
}

/// Restores a tensor after a failed append.
fn undo(store: &TensorStore, id: &Id, before: Option<&TensorMeta>) {
    // If this fails too, the first error is the one to report.
    let _ = match before {
        None => store.delete(&id.0, Dependents::Refuse),
        Some(meta) => {
            let now = store.meta(&id.0);
            let pinned = now.as_ref().is_ok_and(|now| now.pinned != meta.pinned);
            let limited = now.as_ref().is_ok_and(|now| now.max_error != meta.max_error);
            let unpinned = if pinned { store.pin(&id.0, meta.pinned) } else { Ok(()) };
            unpinned.and(if limited { store.set_max_error(&id.0, meta.max_error) } else { Ok(()) })
        }
    };
}
