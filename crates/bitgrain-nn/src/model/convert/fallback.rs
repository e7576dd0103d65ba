//! Fallback format of a tensor whose row length is not a multiple of the requested block length.

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::{DType, ScaledFormat, WeightFormat};

use super::Recipe;
use super::encode::measure;
use super::target::is_held;
use crate::model::{Container, ModelFileError, ModelTensor, TensorEncoding};

/// Chooses the format with the least measured error among [`WeightFormat::fallbacks`] that the container can hold.
/// Without any, chooses float16, or float32 if weights overflow float16.
pub(crate) fn fallback(
    tensor: &ModelTensor,
    wanted: WeightFormat,
    container: Container,
    recipe: &Recipe,
) -> Result<WeightFormat, ModelFileError> {
    let (rows, cols) = tensor.matrix_shape()?;
    let candidates = wanted.fallbacks(cols, |format| is_held(container, &TensorEncoding::Weights(format)));
    let mut best = (wanted, f64::INFINITY);
    // A tensor without rows has no error to compare.
    for format in candidates.into_iter().filter(|_| rows > 0) {
        let error = match measure(tensor, format, recipe, None, &()) {
            Ok(all) => Fidelity::of(all.sums, rows * cols).rms_error,
            Err(ModelFileError::Overflow { .. }) => continue,
            Err(error) => return Err(error),
        };
        if error < best.1 {
            best = (format, error);
        }
    }
    if best.1.is_finite() { Ok(best.0) } else { float(tensor, recipe) }
}

/// Returns the shortest float format that can represent all weights.
fn float(tensor: &ModelTensor, recipe: &Recipe) -> Result<WeightFormat, ModelFileError> {
    let half = ScaledFormat::new(DType::Float16).into();
    match measure(tensor, half, recipe, None, &()) {
        Err(ModelFileError::Overflow { .. }) => Ok(ScaledFormat::new(DType::Float32).into()),
        Err(error) => Err(error),
        Ok(_) => Ok(half),
    }
}
