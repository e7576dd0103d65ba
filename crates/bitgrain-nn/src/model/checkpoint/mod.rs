//! Checkpoints of other quantizers: weights packed by GPTQ, AWQ, FP8, compressed-tensors, ModelOpt, bitsandbytes and HQQ.
//!
//! A Hugging Face folder describes them in the `quantization_config` of its `config.json`. Each group of arrays (codes,
//! scales, zero points) becomes one tensor under the name that the unquantized model has, which decodes to f32 as it is
//! read. Layouts: `spec/checkpoints.md`.

mod arrays;
mod awq;
mod bitsandbytes;
mod compressed;
mod config;
mod error;
mod float8;
mod gptq;
mod groups;
mod hqq;
mod layout;
mod microscaling;
mod onnx;
mod packed;
mod scales;
mod zeros;

use std::path::Path;

use arrays::Arrays;
use bitgrain_formats::onnx::Operator;
use config::{Method, Settings};
pub use error::CheckpointError;
pub(crate) use packed::{Packed, PackedRows};

use super::{ModelFileError, ModelTensor};

/// Replaces the arrays of quantized weights by the weights, as the configuration next to `weights` describes them.
pub(super) fn resolve(weights: &Path, tensors: Vec<ModelTensor>) -> Result<Vec<ModelTensor>, ModelFileError> {
    resolved(weights, tensors).map_err(|error| ModelFileError::Checkpoint(Box::new(error)))
}

/// Replaces the quantized weights of an ONNX model, which its operators describe.
pub(super) fn resolve_onnx(
    tensors: Vec<ModelTensor>,
    operators: &[Operator],
) -> Result<Vec<ModelTensor>, ModelFileError> {
    let mut arrays = Arrays::new(tensors);
    onnx::join(&mut arrays, operators).map_err(|error| ModelFileError::Checkpoint(Box::new(error)))?;
    Ok(arrays.into_tensors())
}

fn resolved(weights: &Path, tensors: Vec<ModelTensor>) -> Result<Vec<ModelTensor>, CheckpointError> {
    let settings = match Settings::read(weights) {
        // A broken file matters only to weights that need it.
        Err(CheckpointError::Json { .. }) if arrays::first_packed(&tensors).is_none() => return Ok(tensors),
        settings => settings?,
    };
    let Some(settings) = settings else {
        return match arrays::first_packed(&tensors) {
            Some((array, method)) => {
                Err(CheckpointError::NoConfig { path: weights.to_owned(), array: array.to_owned(), method })
            }
            None => Ok(tensors),
        };
    };
    let mut arrays = Arrays::new(tensors);
    match settings.method() {
        Method::Gptq(gptq) => gptq::join(&mut arrays, gptq)?,
        Method::Awq(awq) => awq::join(&mut arrays, awq)?,
        Method::Float8(float8) => float8::join(&mut arrays, float8)?,
        Method::CompressedTensors(groups) => compressed::join(&mut arrays, groups, settings.path())?,
        Method::ModelOpt => microscaling::join_modelopt(&mut arrays)?,
        Method::Mxfp4 => microscaling::join_experts(&mut arrays)?,
        Method::BitsAndBytes => bitsandbytes::join(&mut arrays)?,
        Method::Hqq => hqq::join(&mut arrays)?,
    }
    arrays.finish(&settings)
}
