//! Quantizes a model into a new file and says what that cost.

mod encode;
mod fallback;
mod format_choice;
mod layout;
mod options;
mod output;
mod recipe;
mod target;

use std::path::Path;

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::WeightFormat;
use bitgrain_kernels::ErrorSums;
use serde::Serialize;

use crate::model::compare::Figures;
use crate::model::pieces::{Progress, go_on};
use crate::model::tensor_type;
use crate::model::{Container, ModelFile, ModelFileError, ModelTensor, TensorEncoding};
pub(crate) use encode::measure;
pub use format_choice::FormatChoice;
pub use options::{FormatOption, FormatOptions, FormatOptionsError, Granularity, Resolved};
use output::OutputFile;
pub use recipe::Recipe;
use target::target;

/// What a conversion did.
#[derive(Debug, Clone, Serialize)]
pub struct Conversion {
    /// Every tensor, in the order of the input.
    pub tensors: Vec<Converted>,
    /// All quantized weights together, each counting once.
    pub overall: Figures,
    /// Relative RMS error of the quantized tensors: each relative to its own weights, weighed by their number. What
    /// plans go by, because a small error in large weights says nothing about small ones.
    pub tensor_rmse: f64,
    /// Bytes of the tensors before.
    pub bytes_before: u64,
    /// Bytes of the tensors after.
    pub bytes_after: u64,
    /// Bytes of the file that was written.
    pub file_bytes: u64,
}

/// What happened to one tensor.
#[derive(Debug, Clone, Serialize)]
pub struct Converted {
    /// Its name.
    pub name: String,
    /// Its shape, outermost first.
    pub shape: Vec<u64>,
    /// How it was stored.
    pub from: String,
    /// How it is stored now.
    pub to: String,
    /// Bytes before.
    pub bytes_before: u64,
    /// Bytes after.
    pub bytes_after: u64,
    /// What was lost; `None` if it was kept as it is.
    pub figures: Option<Figures>,
    /// Why it is not what was asked for, if it is not.
    pub remark: Option<String>,
}

/// Writes `model` to `out` in the formats of `recipe`. The file appears when it is complete, or not at all.
///
/// Integers are kept as they are, and so are tensors of less than two dimensions unless a rule of the recipe names them. Rows
/// that are not whole blocks of the format get the nearest one that fits, and the report says so.
///
/// # Errors
/// [`ModelFileError::SameFile`], [`ModelFileError::OutputName`], [`ModelFileError::Container`] for formats that the output cannot
/// hold, [`ModelFileError::Codec`] for values that are not finite, [`ModelFileError::Overflow`], [`ModelFileError::Interrupted`] if
/// `progress` says so, and what reading and writing bring.
pub fn quantize(
    model: &ModelFile,
    out: &Path,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Conversion, ModelFileError> {
    let container = Container::of_output(out)?;
    let targets =
        model.tensors().iter().map(|tensor| target(tensor, container, recipe)).collect::<Result<Vec<_>, _>>()?;
    let mut output = OutputFile::create(out, container, model, &targets, recipe.shard_bytes)?;
    let (mut rows, mut sums, mut count) = (Vec::new(), ErrorSums::default(), 0_usize);
    for (i, (tensor, target)) in model.tensors().iter().zip(&targets).enumerate() {
        go_on(progress)?;
        progress.tensor(&tensor.name);
        let (matrix_rows, cols) = tensor.matrix_shape()?;
        let elements = matrix_rows * cols;
        let slot = output.slot(i);
        let lost = match target.encode {
            None => encode::copy(tensor, &slot, &mut output, progress).map(|()| None)?,
            Some(format) => Some(encode::encode(tensor, format, recipe, &slot, &mut output, progress)?),
        };
        if let Some(lost) = lost {
            sums = sums.and(lost);
            count += elements;
        }
        rows.push(Converted {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            from: tensor.storage.to_string(),
            to: target.storage.to_string(),
            bytes_before: tensor.bytes(),
            bytes_after: slot.bytes(),
            figures: lost.map(|sums| Fidelity::of(sums, elements).into()),
            remark: target.remark.clone(),
        });
    }
    let file_bytes = output.commit()?;
    Ok(Conversion {
        tensor_rmse: tensor_rmse(&rows),
        overall: Fidelity::of(sums, count).into(),
        bytes_before: model.bytes(),
        bytes_after: rows.iter().map(|row| row.bytes_after).sum(),
        tensors: rows,
        file_bytes,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a mean over weights")]
fn tensor_rmse(rows: &[Converted]) -> f64 {
    let weighed = rows.iter().filter_map(|row| {
        let weights = row.shape.iter().product::<u64>() as f64;
        Some((weights * row.figures?.relative_rmse.powi(2), weights))
    });
    let (squares, weights) =
        weighed.fold((0.0, 0.0), |(squares, all), (square, weights)| (squares + square, all + weights));
    if weights > 0.0 { (squares / weights).sqrt() } else { 0.0 }
}

/// Whether a file of the kind `container` has a place for weights in this format.
pub(crate) fn holds(container: Container, format: WeightFormat) -> bool {
    container != Container::Gguf || tensor_type(&TensorEncoding::Weights(format)).is_some()
}

/// Bytes a tensor takes in a file of the kind `container` if the recipe is followed.
pub(crate) fn bytes_kept(tensor: &ModelTensor, container: Container, recipe: &Recipe) -> Result<u64, ModelFileError> {
    target(tensor, container, recipe)?.bytes(tensor)
}
