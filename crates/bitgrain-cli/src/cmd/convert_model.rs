//! `bitgrain convert-model`: converts tree models of other libraries.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::gbdt::model::Model;

use super::train::save;
use crate::error::CliError;
use crate::number::Size;

/// Convert a tree model (bitgrain, LightGBM text, XGBoost JSON or UBJSON) to Bitgrain's format or to JSON.
///
/// The converted model adds up the same leaf values, in f64. XGBoost adds them up in f32, so its predictions can differ
/// in the last digits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain convert-model lightgbm.txt model.bitgrain
  bitgrain convert-model xgboost.ubj model.bitgrain
  bitgrain convert-model model.bitgrain model.json       readable dump")]
pub(crate) struct Args {
    /// Input model.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file; with the extension .json, a readable dump that cannot be loaded.
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    super::predict::ensure_not_input(&args.output, [&args.input])?;
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
