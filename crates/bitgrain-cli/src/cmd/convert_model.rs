//! `bitgrain convert-model`: converts tree models between the formats of several programs.

use std::io::Write;
use std::path::PathBuf;

use bitgrain::gbdt::model::{Model, ModelFormat};

use crate::error::CliError;
use crate::number::Size;

/// Convert a tree model between the formats of bitgrain, LightGBM, XGBoost and ONNX, or to source code.
///
/// Reads bitgrain models and their JSON, LightGBM text, and XGBoost JSON and UBJSON. A converted model has the same
/// leaf values, but XGBoost adds them up in f32, so its predictions can differ in the last digits. A model that a
/// format cannot represent is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain convert-model lightgbm.txt imported.bitgrain
  bitgrain convert-model xgboost.ubj imported.bitgrain
  bitgrain convert-model model.bitgrain model.json       readable JSON
  bitgrain convert-model model.bitgrain model.txt        for LightGBM, treelite and others
  bitgrain convert-model model.bitgrain model.ubj        for XGBoost
  bitgrain convert-model model.bitgrain model.onnx       for onnxruntime
  bitgrain convert-model model.bitgrain model.c          C99 source
  bitgrain convert-model model.bitgrain dump.json --format lightgbm-json")]
pub(crate) struct Args {
    /// Input model.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file; its extension selects the format: .bitgrain, .json, .txt (LightGBM), .ubj (XGBoost), .onnx, .c, .rs.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the output.
    #[arg(long, value_parser = format_of, value_name = "FORMAT", help = format_help())]
    format: Option<ModelFormat>,
}

fn format_of(name: &str) -> Result<ModelFormat, String> {
    name.parse().map_err(|error: bitgrain::gbdt::model::ExportError| error.to_string())
}

fn format_help() -> String {
    let names = ModelFormat::ALL.map(ModelFormat::name).join(", ");
    format!("Format of the output: {names} [default: by the extension of OUT, otherwise bitgrain]")
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    super::predict::ensure_not_input(&args.output, [&args.input])?;
    let model = Model::load(&args.input)?;
    model.save_as(&args.output, args.format.unwrap_or_else(|| ModelFormat::of_path(&args.output)))?;
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
