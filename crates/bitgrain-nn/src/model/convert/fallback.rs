//! What to take when rows are not whole blocks of the format that was asked for.

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::{DType, GgmlBlock, ScaledFormat, WeightFormat};

use super::Recipe;
use super::encode::measure;
use crate::model::{ModelFileError, ModelTensor};

/// Formats with blocks of 32.
const NARROW: [GgmlBlock; 6] =
    [GgmlBlock::Q4_0, GgmlBlock::IQ4_NL, GgmlBlock::Q4_1, GgmlBlock::Q5_0, GgmlBlock::Q5_1, GgmlBlock::Q8_0];

/// The format with the least measured error among those of 32 weights that are not larger than what was asked for, so
/// that a file outgrows the request as little as can be; the smallest of them if all are larger. Half precision if
/// nothing fits, single if that cannot hold the weights.
pub(crate) fn fallback(
    tensor: &ModelTensor,
    wanted: WeightFormat,
    recipe: &Recipe,
) -> Result<WeightFormat, ModelFileError> {
    let (rows, cols) = (tensor.rows(), tensor.cols());
    let (Ok(rows), Ok(cols)) = (usize::try_from(rows), usize::try_from(cols)) else { return float(tensor, recipe) };
    if !cols.is_multiple_of(GgmlBlock::Q4_0.weights()) || rows == 0 {
        return float(tensor, recipe);
    }
    let bits = |format: WeightFormat, cols| format.bits_per_weight(1, cols).unwrap_or(f64::INFINITY);
    let limit = bits(wanted, wanted.block());
    let narrow = NARROW.map(WeightFormat::Ggml);
    let least = narrow.iter().map(|format| bits(*format, cols)).fold(f64::INFINITY, f64::min);
    let mut best = (wanted, f64::INFINITY);
    for format in narrow.into_iter().filter(|format| bits(*format, cols) <= limit.max(least)) {
        let error = match measure(tensor, format, recipe, &()) {
            Ok(sums) => Fidelity::of(sums, rows * cols).rms_error,
            Err(ModelFileError::Overflow { .. }) => continue,
            Err(error) => return Err(error),
        };
        if error < best.1 {
            best = (format, error);
        }
    }
    if best.1.is_finite() { Ok(best.0) } else { float(tensor, recipe) }
}

/// The shorter float that holds every weight.
fn float(tensor: &ModelTensor, recipe: &Recipe) -> Result<WeightFormat, ModelFileError> {
    let half = ScaledFormat::new(DType::Float16).into();
    match measure(tensor, half, recipe, &()) {
        Err(ModelFileError::Overflow { .. }) => Ok(ScaledFormat::new(DType::Float32).into()),
        Err(error) => Err(error),
        Ok(_) => Ok(half),
    }
}
