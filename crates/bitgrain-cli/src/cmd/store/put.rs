//! `store put`: puts one tensor.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::codec::{NonFinite, TwoLevel};
use bitgrain::store::{PutOptions, TensorId, TensorStore, Tier};
use serde_json::json;

use super::arguments::{TierName, provenance, shape};
use super::id::{Id, shown, with_id};
use super::session::{close, open};
use super::source::Source;
use crate::error::CliError;
use crate::number::digits;

/// Put a tensor, replacing any tensor with the same id.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store put vectors.store mean mean.npy
  bitgrain store put vectors.store head model.safetensors --tensor lm_head.weight --max-error 0.001
  bitgrain store put vectors.store labels labels.npy --lossless")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the tensor; #7 is the number 7.
    #[arg(value_name = "ID")]
    id: Id,
    /// Input file: .npy, .npz, .safetensors, .gguf, .parquet or .csv.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Tensor or column to read, if the file has several.
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    #[command(flatten)]
    how: How,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Options of writes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct How {
    /// Tier of this write: f16, hot, warm, b6, warm-aggressive, b4 or cold; raised to the pin if that has more bits
    /// [default: the pin, or hot]
    #[arg(long, value_name = "TIER")]
    tier: Option<TierName>,
    #[command(flatten)]
    limits: Limits,
    /// Store the values unchanged, as f32. They must be finite.
    #[arg(long, conflicts_with_all = ["tier", "pin"])]
    lossless: bool,
    /// Use two scales per block if the tensor has outliers; applies to 3 bits.
    #[arg(long, conflicts_with = "lossless")]
    two_level: bool,
    /// Replace a temporal tensor; its frames are deleted.
    #[arg(long)]
    replace: bool,
}

/// Limits of tensors and frames.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Limits {
    /// Minimum tier from now on, including this write.
    #[arg(long, value_name = "TIER")]
    pin: Option<TierName>,
    /// Largest error allowed from now on, including this write.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    max_error: Option<f32>,
    /// Handling of NaN and infinities.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Unusual::Reject)]
    non_finite: Unusual,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Unusual {
    Reject,
    /// Replace them with 0.
    Zero,
    /// Replace NaN with 0, and infinities with the largest finite value of the block.
    Clamp,
}

impl Limits {
    pub(super) fn pin(&self) -> Option<Tier> {
        self.pin.map(|tier| tier.0)
    }

    pub(super) fn max_error(&self) -> Option<f32> {
        self.max_error
    }

    pub(super) fn non_finite(&self) -> NonFinite {
        match self.non_finite {
            Unusual::Reject => NonFinite::Reject,
            Unusual::Zero => NonFinite::Zero,
            Unusual::Clamp => NonFinite::Clamp,
        }
    }

    /// Returns whether no limit is set.
    pub(super) fn is_empty(&self) -> bool {
        self.pin.is_none() && self.max_error.is_none()
    }
}

impl How {
    pub(super) fn options(&self) -> PutOptions {
        PutOptions {
            tier: self.tier.map(|tier| tier.0),
            pin: self.limits.pin(),
            max_error: self.limits.max_error,
            lossless: self.lossless,
            non_finite: self.limits.non_finite(),
            keep_frames: !self.replace,
            two_level: if self.two_level { TwoLevel::AUTO } else { TwoLevel::Off },
            ..PutOptions::default()
        }
    }

    /// Fails if a put would replace frames without `--replace`.
    pub(super) fn check_replaces_no_frames(&self, store: &TensorStore, id: &TensorId) -> Result<(), CliError> {
        match store.frame_count(id) {
            Ok(frames) if frames > 0 && !self.replace => Err(CliError::HasFrames { id: shown(id), frames }),
            _ => Ok(()),
        }
    }
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let tensor = Source::open(&args.file)?.one(&args.file, args.tensor.as_deref())?;
    let store = open(&args.path)?;
    args.how.check_replaces_no_frames(&store, &args.id.0)?;
    let put = store.put_with(&args.id.0, &tensor.shape, &tensor.values, &args.how.options());
    let cost = put.map_err(|error| tensor.refused(&args.file, &args.path, error))?;
    let bytes = store.meta(&args.id.0).map_err(CliError::store(&args.path))?.stored_bytes;
    close(store, &args.path)?;
    let f32_bytes = tensor.values.len() * 4;
    if args.json {
        let found = json!({
            "shape": tensor.shape,
            "provenance": provenance(&cost),
            "bytes": bytes,
            "f32_bytes": f32_bytes,
        });
        return Ok(writeln!(out, "{:#}", with_id(&args.id.0, found))?);
    }
    writeln!(
        out,
        "put {} ({}) at {} bits: {bytes} bytes ({f32_bytes} as f32), measured error {}, error bound {}",
        shown(&args.id.0),
        shape(&tensor.shape),
        cost.bits,
        digits(f64::from(cost.measured)),
        digits(f64::from(cost.bound)),
    )?;
    Ok(())
}
