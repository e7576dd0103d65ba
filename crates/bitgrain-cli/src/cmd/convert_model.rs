//! `bitgrain convert-model`: models of other libraries into our own file, or JSON.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::gbdt::model::Model;

use super::train::save;
use crate::error::CliError;
use crate::number::Size;

/// Convert a model of trees (bitgrain, LightGBM text, XGBoost JSON or UBJSON) to bitgrain's file, or to JSON.
///
/// It predicts what the library that trained it predicts: the same sums of the same leaves, added up in f64.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain convert-model lightgbm.txt model.bitgrain
  bitgrain convert-model xgboost.ubj model.bitgrain
  bitgrain convert-model model.bitgrain model.json       to look into, or for other programs")]
pub(crate) struct Args {
    /// The model to read.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; .json for a text to look into, which is not read again.
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    super::predict::refuse_over(&args.output, [&args.input])?;
    let model = Model::load(&args.input)?;
    save(&model, &args.output)?;
    let size = |path: &PathBuf| Size(std::fs::metadata(path).map_or(0, |file| file.len()));
    Ok(writeln!(
        out,
        "{} features, {} trees: {} ({}) -> {} ({})",
        model.inputs.len(),
        model.trees.len(),
        args.input.display(),
        size(&args.input),
        args.output.display(),
        size(&args.output)
    )?)
}
