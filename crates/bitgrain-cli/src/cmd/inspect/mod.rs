//! `bitgrain inspect`: what a file holds, without reading what it need not.

mod bars;
mod metadata;
mod model;
mod table;
mod tensor;
mod trees;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bitgrain::gbdt::model::{ImportError, LoadError, Model as TreeModel};
use bitgrain::gbdt::table::{FileFormat, Table};
use bitgrain::nn::{ModelFile, ModelFileError, ModelTensor};

use crate::error::CliError;
use crate::printable::printable;

/// Show what a file holds: a model's tensors or trees, one tensor's values, or a table's columns.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain inspect model.gguf                       metadata, tensors, totals per format
  bitgrain inspect ./folder                         a Hugging Face folder, sharded or not
  bitgrain inspect model.gguf blk.0.attn_q.weight   statistics and a histogram of one tensor
  bitgrain inspect model.gguf 'blk.0.*'             only these tensors
  bitgrain inspect weights.npz --json               the same for machines
  bitgrain inspect houses.bitgrain                  trees, and which features matter; LightGBM and XGBoost too
  bitgrain inspect data.csv                         what the columns of a table were taken for")]
pub(crate) struct Args {
    /// A GGUF, safetensors, npy or npz file, the index of a sharded model, or a folder; a model of trees of
    /// bitgrain, LightGBM or XGBoost; or a table: .csv, .tsv, .parquet, .libsvm, .svm.
    file: PathBuf,
    /// A tensor to look into; with `*` or `?` in it, the tensors to list.
    tensor: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What a file is. Another kind of file gets a variant, and its line in [`open`].
enum Subject {
    Weights(ModelFile),
    Trees(TreeModel),
    Table(Table),
}

/// Finds out what a file is by what is in it.
fn open(path: &Path) -> Result<Subject, CliError> {
    // What a download that failed leaves behind; no kind of file would say it as plainly.
    if path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
        let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
        return Err(CliError::File { path: path.to_owned(), source });
    }
    if FileFormat::of_name(path).is_some() {
        return Ok(Subject::Table(Table::read(path)?));
    }
    if path.is_file() && !holds_weights(path) {
        match TreeModel::load(path) {
            Ok(model) => return Ok(Subject::Trees(model)),
            Err(LoadError::Import { source: ImportError::Kind, .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(Subject::Weights(ModelFile::open(path)?))
}

/// Whether the name is that of a file of weights, which may be too large to look through.
fn holds_weights(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".gguf", ".safetensors", ".safetensors.index.json", ".npy", ".npz"].iter().any(|ending| name.ends_with(ending))
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    match open(&args.file)? {
        Subject::Weights(model) => weights(&model, args, out),
        Subject::Trees(model) => trees::show(&args.file, &model, args.json, out),
        Subject::Table(table) => table::show(&args.file, &table, args.json, out),
    }
}

fn weights(model: &ModelFile, args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    match args.tensor.as_deref() {
        None => model::show(model, &model.tensors().iter().collect::<Vec<_>>(), args.json, out),
        // A tensor that is really called so comes first.
        Some(name) if name.contains(['*', '?']) && model.tensor(name).is_err() => {
            model::show(model, &model.matching(name)?, args.json, out)
        }
        Some(name) => tensor::show(tensor(model, name)?, args.json, out),
    }
}

/// The tensor of this name. The one that comes nearest is text from the file, and may be shown only as such.
fn tensor<'a>(model: &'a ModelFile, name: &str) -> Result<&'a ModelTensor, ModelFileError> {
    model.tensor(name).map_err(|error| match error {
        ModelFileError::NoTensor { name, nearest } => {
            ModelFileError::NoTensor { name, nearest: nearest.map(|near| printable(&near).into_owned()) }
        }
        other => other,
    })
}
