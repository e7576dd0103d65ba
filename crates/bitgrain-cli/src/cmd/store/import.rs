//! `store import`: puts all tensors of files.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use bitgrain::nn::Progress;
use bitgrain::store::{TensorId, TensorStore};
use serde_json::json;

use super::id::{Id, shown};
use super::put::How;
use super::session::{close, for_many, opened};
use super::source::Source;
use crate::error::CliError;
use crate::number::Size;
use crate::printable::counted;
use crate::progress::Bar;

/// Put all tensors of files, or all numeric columns of tables, under their names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store import vectors.store model.safetensors
  bitgrain store import vectors.store *.npy --prefix layers/
  bitgrain store import vectors.store features.parquet --max-error 0.01")]
pub(crate) struct Args {
    /// Folder of the store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Input files: .npy (id from the file name), .npz, .safetensors, .gguf, .parquet, .csv, or a Hugging Face folder.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Prefix for every id.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    prefix: String,
    #[command(flatten)]
    how: How,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Number of tensors per batch.
const BATCH: usize = 1000;
/// Maximum size of a batch in bytes.
const BATCH_BYTES: usize = 64 << 20;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let sources: Vec<Source> = args.files.iter().map(|file| Source::open(file)).collect::<Result<_, _>>()?;
    let store = opened(&args.path, for_many())?;
    check_ids(args, &sources, &store)?;
    let failed = || CliError::store(&args.path);
    let file_bytes = |file: &PathBuf| std::fs::metadata(file).map_or(0, |about| about.len());
    let bar = Bar::new(args.files.iter().map(file_bytes).sum(), "importing");
    let options = args.how.options();
    let (mut tensors, mut f32_bytes, mut skipped) = (0, 0_usize, 0);
    for (source, file) in sources.iter().zip(&args.files) {
        let (mut batch, mut batch_bytes) = (store.batch(), 0);
        let count = source.names().len();
        let share = file_bytes(file) / (count as u64).max(1);
        for at in 0..count {
            let Some(tensor) = source.read(at)? else {
                skipped += 1;
                continue;
            };
            bar.tensor(&tensor.name);
            let id = args.id_of(&tensor.name);
            let put = batch.put_with(id, &tensor.shape, &tensor.values, &options);
            put.map_err(|error| tensor.refused(file, &args.path, error))?;
            tensors += 1;
            batch_bytes += tensor.values.len() * 4;
            f32_bytes += tensor.values.len() * 4;
            if batch.len() >= BATCH || batch_bytes >= BATCH_BYTES {
                std::mem::replace(&mut batch, store.batch()).commit().map_err(failed())?;
                batch_bytes = 0;
            }
            bar.add(share);
        }
        batch.commit().map_err(failed())?;
    }
    store.flush().map_err(failed())?;
    bar.finish();
    let stats = store.stats().map_err(failed())?;
    close(store, &args.path)?;
    if args.json {
        let found = json!({
            "imported": tensors,
            "f32_bytes": f32_bytes,
            "string_columns_skipped": skipped,
            "tensors": stats.tensors,
            "file_bytes": stats.file_bytes,
        });
        return Ok(writeln!(out, "{found:#}")?);
    }
    let left_out = if skipped == 0 { String::new() } else { format!(", skipped {skipped} string columns") };
    writeln!(
        out,
        "imported {} ({} as f32){left_out}; the store has {} in {}",
        counted(tensors, "tensor"),
        Size(f32_bytes as u64),
        stats.tensors,
        Size(stats.file_bytes),
    )?;
    Ok(())
}

impl Args {
    /// Returns the id for a tensor of a file.
    fn id_of(&self, name: &str) -> TensorId {
        let Ok(id) = format!("{}{name}", self.prefix).parse::<Id>();
        id.0
    }
}

/// Checks, before anything is put, that the import does not silently lose data: existing frames, or one of two tensors
/// with the same name.
fn check_ids(args: &Args, sources: &[Source], store: &TensorStore) -> Result<(), CliError> {
    let mut seen: HashMap<TensorId, &Path> = HashMap::new();
    for (source, file) in sources.iter().zip(&args.files) {
        for name in source.names() {
            let id = args.id_of(name);
            args.how.check_replaces_no_frames(store, &id)?;
            let id_shown = shown(&id);
            if let Some(first) = seen.insert(id, file) {
                return Err(CliError::SameName { id: id_shown, first: first.to_owned(), second: file.clone() });
            }
        }
    }
    Ok(())
}
