//! `store import`: files of tensors in.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::nn::{Progress, Size};
use serde_json::json;

use super::arguments::{Id, close, open_for_many};
use super::files::Source;
use super::put::How;
use crate::error::CliError;
use crate::progress::Bar;

/// Put all tensors of files, or all number columns of tables, under their names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain store import vectors.store model.safetensors
  bitgrain store import vectors.store *.npy --prefix layers/
  bitgrain store import vectors.store features.parquet --max-error 0.01")]
pub(crate) struct Args {
    /// The store.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Files: .npy (under the name of the file), .npz, .safetensors, .gguf, .parquet, .csv; or a Hugging Face folder.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What to put before every name.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    #[command(flatten)]
    how: How,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Tensors that become durable together.
const BATCH: usize = 1000;
/// Or bytes of them.
const BATCH_BYTES: usize = 64 << 20;

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    let sources: Vec<Source> = args.files.iter().map(|file| Source::open(file)).collect::<Result<_, _>>()?;
    let store = open_for_many(&args.path)?;
    let failed = || CliError::store(&args.path);
    let file_bytes = |file: &PathBuf| std::fs::metadata(file).map_or(0, |about| about.len());
    let bar = Bar::new(args.files.iter().map(file_bytes).sum(), "importing");
    let options = args.how.options();
    let (mut tensors, mut f32_bytes, mut texts) = (0, 0_usize, 0);
    for (source, file) in sources.iter().zip(&args.files) {
        let (mut batch, mut batch_bytes) = (store.batch(), 0);
        let share = file_bytes(file) / (source.len() as u64).max(1);
        for at in 0..source.len() {
            let Some(tensor) = source.read(at)? else {
                texts += 1;
                continue;
            };
            bar.tensor(&tensor.name);
            let Ok(id) = format!("{}{}", args.prefix, tensor.name).parse::<Id>();
            batch.put_with(id.0, &tensor.shape, &tensor.values, &options).map_err(|source| CliError::OfTensor {
                path: file.clone(),
                name: tensor.name.clone(),
                source: Box::new(source),
            })?;
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
            "text_columns_left_out": texts,
            "tensors": stats.tensors,
            "file_bytes": stats.file_bytes,
        });
        return Ok(writeln!(out, "{found:#}")?);
    }
    let left_out = if texts == 0 { String::new() } else { format!(", {texts} columns of texts left out") };
    writeln!(
        out,
        "imported {tensors} tensors, {} of f32{left_out}; the store has {} in {}",
        Size(f32_bytes as u64),
        stats.tensors,
        Size(stats.file_bytes),
    )?;
    Ok(())
}
