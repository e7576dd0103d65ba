//! `bitgrain inspect`: contents of a model file or a table. Values are read only where they are shown.

mod bars;
mod bins;
mod metadata;
mod model;
mod table;
mod tensor;
mod trees;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bitgrain::gbdt::model::{ImportError, LoadError, Model as TreeModel};
use bitgrain::gbdt::table::{BinnedTable, FileFormat, Table};
use bitgrain::nn::{ModelFile, ModelFileError, ModelTensor};

use crate::error::CliError;
use crate::printable::printable;

/// Show the contents of a file: tensors or trees of a model, values of one tensor, or columns of a table.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain inspect model.gguf                       metadata, tensors, totals per format
  bitgrain inspect ./folder                         a Hugging Face folder
  bitgrain inspect model.gguf blk.0.attn_q.weight   statistics and a histogram of one tensor
  bitgrain inspect model.gguf 'blk.0.*'             only matching tensors
  bitgrain inspect weights.npz --json               JSON output
  bitgrain inspect houses.bitgrain                  trees and feature importances
  bitgrain inspect data.csv                         column types, ranges and missing values
  bitgrain inspect table.bins --verify              bins of every feature, and all checksums")]
pub(crate) struct Args {
    /// Model file (GGUF, safetensors, npy or npz), index of a sharded model, or folder; tree model (bitgrain, LightGBM
    /// or XGBoost); table (.csv, .tsv, .parquet, .libsvm or .svm); or binned table (.bins).
    file: PathBuf,
    /// Name of a tensor to summarize, or a pattern with * or ? that selects the tensors to list.
    tensor: Option<String>,
    /// Verify all checksums of a binned table.
    #[arg(long)]
    verify: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Contents of a file. A new kind of file needs a variant here and a case in [`open`].
enum Subject {
    Weights(ModelFile),
    Trees(TreeModel),
    Table(Table),
    Bins(BinnedTable),
}

/// Detects the kind of a file from its name and contents.
fn open(path: &Path) -> Result<Subject, CliError> {
    // Failed downloads leave empty files behind; the parsers' errors would be less clear.
    if path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
        let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
        return Err(CliError::File { path: path.to_owned(), source });
    }
    if BinnedTable::detect(path) {
        return Ok(Subject::Bins(BinnedTable::open(path)?));
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

/// Returns whether the name is that of a weight file, which may be too large to read as a tree model.
fn holds_weights(path: &Path) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    [".gguf", ".safetensors", ".safetensors.index.json", ".npy", ".npz"].iter().any(|ending| name.ends_with(ending))
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    match open(&args.file)? {
        Subject::Weights(model) => weights(&model, args, out),
        Subject::Trees(model) => trees::show(&args.file, &model, args.json, out),
        Subject::Bins(table) => bins::show(&table, args.verify, args.json, out),
        Subject::Table(table) => table::show(&args.file, &table, args.json, out),
    }
}

fn weights(model: &ModelFile, args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    match args.tensor.as_deref() {
        None => model::show(model, &model.tensors().iter().collect::<Vec<_>>(), args.json, out),
        // A tensor whose name contains `*` or `?` takes precedence over the pattern.
        Some(name) if name.contains(['*', '?']) && model.tensor(name).is_err() => {
            model::show(model, &model.matching(name)?, args.json, out)
        }
        Some(name) => tensor::show(tensor(model, name)?, args.json, out),
    }
}

/// Returns the tensor with this name. The suggestion in the error comes from the file, so it is escaped.
fn tensor<'a>(model: &'a ModelFile, name: &str) -> Result<&'a ModelTensor, ModelFileError> {
    model.tensor(name).map_err(|error| match error {
        ModelFileError::NoTensor { name, nearest } => {
            ModelFileError::NoTensor { name, nearest: nearest.map(|near| printable(&near).into_owned()) }
        }
        other => other,
    })
}
