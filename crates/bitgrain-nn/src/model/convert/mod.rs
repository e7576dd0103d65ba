//! Quantizes a model into a new file and reports the error.

mod encode;
mod fallback;
mod format_choice;
mod layout;
mod mix;
mod options;
mod output;
mod recipe;
mod scheme;
mod scheme_folder;
mod target;

use std::path::{Path, PathBuf};

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::WeightFormat;
use bitgrain_kernels::ErrorSums;
use serde::Serialize;

use crate::model::compare::ErrorStats;
use crate::model::pieces::{Progress, check_interrupt};
use crate::model::tensor_type;
use crate::model::{Container, ModelFile, ModelFileError, ModelTensor, TensorEncoding};
pub(crate) use encode::{measure, quantized};
pub use format_choice::FormatChoice;
pub use mix::Mix;
pub use options::{FormatOption, FormatOptions, FormatOptionsError, Granularity, Resolved};
use output::OutputFile;
pub use recipe::Recipe;
pub use scheme::{Scheme, UnknownScheme};
pub use scheme_folder::{quantize_checkpoint, scheme_format};
use target::target;

/// Report of a conversion.
#[derive(Debug, Clone, Serialize)]
pub struct Conversion {
    /// All tensors, in the order of the input.
    pub tensors: Vec<Converted>,
    /// Errors over all quantized weights, each counted once.
    pub overall: ErrorStats,
    /// Relative RMS error of the quantized tensors: each relative to its own weights, averaged by the number of
    /// weights. Plans use this figure, because an absolute error that is small for large weights can be large for small
    /// ones.
    pub tensor_rmse: f64,
    /// Size of the input's tensors in bytes.
    pub bytes_before: u64,
    /// Size of the output's tensors in bytes.
    pub bytes_after: u64,
    /// Size of the output files in bytes.
    pub file_bytes: u64,
    /// Output files: one, or the shards in order and the index if there is one.
    pub files: Vec<PathBuf>,
}

/// Report of one converted tensor.
#[derive(Debug, Clone, Serialize)]
pub struct Converted {
    /// Name of the tensor.
    pub name: String,
    /// Shape, outermost dimension first.
    pub shape: Vec<u64>,
    /// Encoding in the input.
    pub from: String,
    /// Encoding in the output.
    pub to: String,
    /// Size in the input in bytes.
    pub bytes_before: u64,
    /// Size in the output in bytes.
    pub bytes_after: u64,
    /// Quantization error; `None` if the tensor was copied.
    pub figures: Option<ErrorStats>,
    /// Reason why the tensor did not get the requested format, if so.
    pub remark: Option<String>,
}

/// Writes `model` to `out` in the formats of `recipe`. The output appears atomically, once it is complete.
///
/// Integers are copied, and so are tensors of fewer than two dimensions unless a rule of the recipe matches them. A
/// tensor whose row length is not a multiple of the block length is stored in a fallback format, with a remark in the report.
///
/// # Errors
/// Returns [`ModelFileError::SameFile`] and [`ModelFileError::OutputName`] for an unsuitable output path,
/// [`ModelFileError::Container`] for formats that the output cannot hold, [`ModelFileError::Codec`] for values that are
/// not finite, [`ModelFileError::Overflow`] for values out of range, [`ModelFileError::Interrupted`] if `progress`
/// cancels, and I/O errors.
pub fn quantize(
    model: &ModelFile,
    out: &Path,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<Conversion, ModelFileError> {
    let container = Container::of_output(out)?;
    let targets =
        model.tensors().iter().map(|tensor| target(tensor, container, recipe)).collect::<Result<Vec<_>, _>>()?;
    let mut output = OutputFile::create(out, container, model, &targets, recipe)?;
    let report = write(model, &targets, recipe, &mut output, progress)?;
    let files = output.paths();
    Ok(Conversion { file_bytes: output.commit()?, files, ..report })
}

/// Like [`quantize`], but returns the bytes of a single file. `name` is the name that the file would have; its extension
/// selects the container.
///
/// # Errors
/// Returns the errors of [`quantize`], and [`ModelFileError::OutputName`] for the index of a sharded model.
pub fn quantize_to_bytes(
    model: &ModelFile,
    name: &Path,
    recipe: &Recipe,
    progress: &dyn Progress,
) -> Result<(Vec<u8>, Conversion), ModelFileError> {
    let container = Container::of_output(name)?;
    if name.extension().is_some_and(|extension| extension == "json") {
        return Err(ModelFileError::OutputName { path: name.to_owned() });
    }
    let targets =
        model.tensors().iter().map(|tensor| target(tensor, container, recipe)).collect::<Result<Vec<_>, _>>()?;
    let mut output = OutputFile::in_memory(name, container, model, &targets, recipe)?;
    let report = write(model, &targets, recipe, &mut output, progress)?;
    let bytes = output.into_bytes();
    let file_bytes = bytes.len() as u64;
    Ok((bytes, Conversion { file_bytes, ..report }))
}

/// Encodes or copies every tensor into its slot.
fn write(
    model: &ModelFile,
    targets: &[target::Target],
    recipe: &Recipe,
    output: &mut OutputFile,
    progress: &dyn Progress,
) -> Result<Conversion, ModelFileError> {
    let (mut rows, mut sums, mut count) = (Vec::new(), ErrorSums::default(), 0_usize);
    for (i, (tensor, target)) in model.tensors().iter().zip(targets).enumerate() {
        check_interrupt(progress)?;
        progress.tensor(&tensor.name);
        let (matrix_rows, cols) = tensor.matrix_shape()?;
        let elements = matrix_rows * cols;
        let slot = output.slot(i);
        let lost = match target.encode {
            None => encode::copy(tensor, &slot, output, progress).map(|()| None)?,
            Some(format) => Some(encode::encode(tensor, format, target, recipe, &slot, output, progress)?),
        };
        if let Some(lost) = lost {
            sums = sums.merge(lost);
            count += elements;
        }
        rows.push(Converted {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            from: tensor.storage.to_string(),
            to: target.scheme.map_or_else(|| target.storage.to_string(), |scheme| scheme.name().to_owned()),
            bytes_before: tensor.bytes(),
            bytes_after: slot.bytes(),
            figures: lost.map(|sums| Fidelity::of(sums, elements).into()),
            remark: target.remark.clone(),
        });
    }
    Ok(Conversion {
        tensor_rmse: tensor_rmse(&rows),
        overall: Fidelity::of(sums, count).into(),
        bytes_before: model.bytes(),
        bytes_after: rows.iter().map(|row| row.bytes_after).sum(),
        tensors: rows,
        file_bytes: 0,
        files: Vec::new(),
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

/// Returns whether `container` can hold weights in this format.
pub(crate) fn holds(container: Container, format: WeightFormat) -> bool {
    container != Container::Gguf || tensor_type(&TensorEncoding::Weights(format)).is_some()
}

/// Returns the size in bytes of a tensor in `container` under the recipe.
pub(crate) fn bytes_kept(tensor: &ModelTensor, container: Container, recipe: &Recipe) -> Result<u64, ModelFileError> {
    target(tensor, container, recipe)?.bytes(tensor)
}
