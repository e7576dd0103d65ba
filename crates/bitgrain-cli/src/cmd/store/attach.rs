//! `store attach`: sets the reconstruction of a tensor.

use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain::store::reconstruct::{DeltaValues, Factor, Projection, Reconstruction};
use bitgrain::store::{StoreError, TensorId, TensorStore};
use serde_json::json;

use super::arguments::provenance;
use super::id::{Id, shown, with_id};
use super::session::{close, open, open_read_only};
use super::source::{Named, Source};
use crate::error::CliError;
use crate::number::digits;

/// Set how a tensor is reconstructed from another one when `tick` evicts its data.
///
/// An id that does not exist is created without data: every read reconstructs it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store attach vectors.store tuned --base original        difference of the stored values
  bitgrain store attach vectors.store copy --base original --wanted mean.npy
  bitgrain store attach vectors.store half --source original --scale 0.5
  bitgrain store attach vectors.store small --source original --projection matrix.npy
  bitgrain store attach vectors.store tuned --remove")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Id of the tensor to reconstruct.
    #[arg(value_name = "ID")]
    id: Id,
    #[command(flatten)]
    from: From,
    /// Tensor that the result must equal; the difference to the base is stored [default: the stored values of ID].
    #[arg(long, value_name = "FILE", requires = "base", conflicts_with_all = ["delta", "source", "remove"])]
    wanted: Option<PathBuf>,
    /// Difference to the base; the same for every frame of a temporal tensor.
    #[arg(long, value_name = "FILE", requires = "base", conflicts_with_all = ["source", "remove"])]
    delta: Option<PathBuf>,
    /// Multiplier of the source.
    #[arg(long, value_name = "X", requires = "source", conflicts_with_all = ["base", "remove"], allow_negative_numbers = true)]
    scale: Option<f32>,
    /// Row indices (0-based): row i of the result is row `permutation[i]` of the source.
    #[arg(long, value_name = "FILE", requires = "source", conflicts_with_all = ["base", "remove"])]
    permutation: Option<PathBuf>,
    /// Matrix that multiplies the permuted source from the left.
    #[arg(long, value_name = "FILE", requires = "source", conflicts_with_all = ["base", "remove"])]
    projection: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Tensor to reconstruct from.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
struct From {
    /// Id of the base, of the same shape: the result is base + delta.
    #[arg(long, value_name = "ID")]
    base: Option<Id>,
    /// Id of the source: the result is scale * projection * permuted source.
    #[arg(long, value_name = "ID")]
    source: Option<Id>,
    /// Remove the reconstruction.
    #[arg(long)]
    remove: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let failed = || CliError::store(&args.path);
    let store = open(&args.path)?;
    let exists = store.contains(&args.id.0);
    let reconstruction = reconstruction(args, &store, exists)?;
    match &reconstruction {
        Some((reconstruction, shape)) if !exists => {
            let result = || result_shape(&store, reconstruction).map_err(failed());
            let shape = shape.clone().map_or_else(result, Ok)?;
            store.put_absent(&args.id.0, &shape, reconstruction).map_err(failed())?;
        }
        of => store.attach(&args.id.0, of.as_ref().map(|(of, _)| of)).map_err(failed())?,
    }
    close(store, &args.path)?;
    report(args, reconstruction.map(|(of, _)| of.base().clone()).as_ref(), exists, out)
}

/// A reconstruction, with the shape of its result if a file gives it.
type Attachment = (Reconstruction, Option<Vec<usize>>);

/// Returns the reconstruction to attach; `None` to remove it.
fn reconstruction(args: &Args, store: &TensorStore, exists: bool) -> Result<Option<Attachment>, CliError> {
    let base = match (&args.from.base, &args.from.source) {
        (Some(Id(base)), _) => base.clone(),
        (None, Some(Id(source))) => {
            let permutation = args.permutation.as_deref().map(row_indices).transpose()?;
            let projection = args.projection.as_deref().map(|path| matrix(path, &args.path)).transpose()?;
            let factor = Factor { scale: args.scale.unwrap_or(1.0), permutation, projection };
            return Ok(Some((Reconstruction::Factor { source: source.clone(), factor }, None)));
        }
        (None, None) => return Ok(None),
    };
    let (values, shape) = match (&args.wanted, &args.delta) {
        (Some(path), _) => {
            let Named { values, shape, .. } = read(path)?;
            (DeltaValues::Wanted(values), shape)
        }
        (None, Some(path)) => {
            let Named { values, shape, .. } = read(path)?;
            (DeltaValues::Delta(values), shape)
        }
        (None, None) if exists => {
            let stored = store.get(&args.id.0).map_err(CliError::store(&args.path))?;
            (DeltaValues::Wanted(stored.values), stored.shape)
        }
        (None, None) => return Err(CliError::NoValues { id: shown(&args.id.0) }),
    };
    Ok(Some((Reconstruction::Delta { base, values }, Some(shape))))
}

fn result_shape(store: &TensorStore, reconstruction: &Reconstruction) -> Result<Vec<usize>, StoreError> {
    let source = store.shape(reconstruction.base())?;
    match reconstruction {
        Reconstruction::Delta { .. } => Ok(source),
        Reconstruction::Factor { factor, .. } => factor.shape(&source),
    }
}

fn read(path: &Path) -> Result<Named, CliError> {
    Source::open(path)?.one(path, None)
}

fn row_indices(path: &Path) -> Result<Vec<u32>, CliError> {
    let values = read(path)?.values;
    // f32 represents every integer below 2^24.
    let index = |(at, &value): (usize, &f32)| {
        let valid = (0.0..16_777_216.0).contains(&value) && value.fract() == 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let row = value as u32;
        if valid { Ok(row) } else { Err(CliError::RowIndex { path: path.to_owned(), at, value }) }
    };
    values.iter().enumerate().map(index).collect()
}

fn matrix(path: &Path, store: &Path) -> Result<Projection, CliError> {
    let Named { shape, values, .. } = read(path)?;
    let &[rows, columns] = &shape[..] else {
        return Err(CliError::NotMatrix { path: path.to_owned(), axes: shape.len() });
    };
    Projection::new(rows, columns, values).map_err(CliError::store(store))
}

fn report(args: &Args, base: Option<&TensorId>, exists: bool, out: &mut impl Write) -> Result<(), CliError> {
    let store = open_read_only(&args.path)?;
    let failed = || CliError::store(&args.path);
    let meta = store.meta(&args.id.0).map_err(failed())?;
    // What a read returns now: the data, or the reconstruction.
    let read = store.get(&args.id.0).map_err(failed())?.provenance;
    if args.json {
        let found = json!({
            "base": base.map(shown),
            "created": !exists,
            "reconstructable": meta.reconstructable,
            "provenance": provenance(&read),
        });
        return Ok(writeln!(out, "{:#}", with_id(&args.id.0, found))?);
    }
    let id = shown(&args.id.0);
    match base {
        None => writeln!(out, "{id} has no reconstruction")?,
        Some(base) if exists => {
            writeln!(out, "{id} can be reconstructed from {}; `tick` may evict its data", shown(base))?;
        }
        Some(base) => {
            let bound = digits(f64::from(read.bound));
            writeln!(out, "{id} is reconstructed from {}: error bound {bound}", shown(base))?;
        }
    }
    Ok(())
}
