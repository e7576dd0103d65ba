//! `store get`: a tensor, some of its rows or some of its frames out.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::nn::digits;
use bitgrain::store::{Frame, Provenance, Tensor};
use serde_json::json;

use super::arguments::{Id, Span, close_after_reading, is_gone, open_to_read, provenance, shape, written};
use super::files::{Named, write};
use crate::error::CliError;

/// Read a tensor, some of its rows, or frames of a temporal one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store get vectors.store mean -o mean.npy
  bitgrain store get vectors.store words --rows 100..110
  bitgrain store get sensors.store room --frames 0.. -o room.npy")]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The tensor.
    #[arg(value_name = "ID")]
    id: Id,
    /// Where to write it: .npy, .npz, .safetensors or .parquet. Else its first values are shown.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only these rows (of the first axis), such as 2..5.
    #[arg(long, value_name = "A..B")]
    rows: Option<Span>,
    /// Frames of a temporal tensor, such as 2..5; all if not given.
    #[arg(long, value_name = "A..B", conflicts_with = "rows")]
    frames: Option<Span>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Values that are shown at most.
const SHOWN: usize = 8;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let failed = || CliError::store(&args.path);
    let store = open_to_read(&args.path)?;
    let meta = store.meta(&args.id.0).map_err(failed())?;
    let tensor = match (meta.frames, args.rows) {
        (Some(count), None) => {
            let range = args.frames.map_or(0..count, |span| span.of(count));
            stacked(&meta.shape, store.frames(&args.id.0, range).map_err(failed())?)
        }
        (_, Some(rows)) => {
            let count = meta.shape.first().map_or(1, |&rows| rows as u64);
            let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let range = rows.of(count);
            store.get_rows(&args.id.0, index(range.start)..index(range.end)).map_err(failed())?
        }
        (None, None) if args.frames.is_some() => return Err(CliError::NoFrames { id: args.id.0.to_string() }),
        (None, None) => store.get(&args.id.0).map_err(failed())?,
    };
    close_after_reading(store);
    let cost = tensor.provenance;
    if is_gone(&cost) {
        return Err(CliError::Gone { id: args.id.0.to_string() });
    }
    if args.json {
        let mut found = json!({
            "id": args.id.0.to_string(),
            "shape": tensor.shape,
            "provenance": provenance(&cost),
        });
        match &args.output {
            Some(path) => found["output"] = json!(path),
            None => found["values"] = json!(tensor.values),
        }
        writeln!(out, "{found:#}")?;
    } else {
        let about = shape(&tensor.shape);
        let (bits, worst, bound) = (cost.bits, digits(f64::from(cost.measured)), digits(f64::from(cost.bound)));
        writeln!(
            out,
            "{} ({about}): {}, {bits} bits, errors up to {worst} (at most {bound})",
            args.id.0,
            cost.tier.name()
        )?;
        if args.output.is_none() {
            let first: Vec<String> = tensor.values.iter().take(SHOWN).map(|&value| digits(f64::from(value))).collect();
            let more = if tensor.values.len() > SHOWN { ", …" } else { "" };
            writeln!(out, "{}{more}", first.join(", "))?;
        }
    }
    if let Some(path) = &args.output {
        write(path, vec![Named { name: written(&args.id.0), shape: tensor.shape, values: tensor.values }])?;
        if !args.json {
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    Ok(())
}

/// Frames as one tensor, with the errors of the worst.
fn stacked(shape: &[usize], frames: Vec<Frame>) -> Tensor {
    let axes = std::iter::once(frames.len()).chain(shape.iter().copied()).collect();
    let worst = frames.iter().map(|frame| frame.provenance).reduce(|a, b| if b.bound > a.bound { b } else { a });
    let none = Provenance { tier: bitgrain::store::Tier::Hot, bits: 8, bound: 0.0, measured: 0.0, depth: 0 };
    Tensor {
        shape: axes,
        values: frames.into_iter().flat_map(|frame| frame.values).collect(),
        provenance: worst.unwrap_or(none),
    }
}
