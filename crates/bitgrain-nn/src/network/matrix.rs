//! Parallel encoding and decoding of a matrix in memory, with the same bytes as the serial [`QuantizedTensor`].

use bitgrain_codec::weight::{Parts, PartsBuf, QuantizedTensor, ScaledFormat, Scaling, WeightFormat, check_finite};
use bitgrain_codec::{CodecErr, Fidelity, NonFinite};
use bitgrain_kernels::{Backend, ErrorSums, error_sums};
use rayon::prelude::*;

/// Number of weights per task.
const PIECE: usize = 64 << 10;

/// Quantizes weights in rows of `cols`, with optional per-column importances.
///
/// ```
/// use bitgrain_codec::weight::{DType, QuantizedTensor};
/// let weights: Vec<f32> = (0..300_000).map(|i| (i as f32 * 0.37).sin()).collect();
/// let tensor = bitgrain_nn::network::matrix::quantize(DType::Int4.into(), &weights, 1000, None)?;
/// assert_eq!(tensor, QuantizedTensor::quantize(DType::Int4.into(), &weights, 1000)?);
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
///
/// # Errors
/// Same as [`QuantizedTensor::quantize_with`]. The reported non-finite weight is the first, regardless of the number of
/// threads.
pub fn quantize(
    format: WeightFormat,
    values: &[f32],
    cols: usize,
    importance: Option<&[f32]>,
) -> Result<QuantizedTensor, CodecErr> {
    let step = rows_at_a_time(cols);
    if cols == 0 || !values.len().is_multiple_of(cols) || values.len() <= step * cols {
        return QuantizedTensor::quantize_with(format, values, cols, importance);
    }
    let grid = format.tensor_grid(values)?;
    let encode = |(i, values): (usize, &[f32])| {
        let mut parts = PartsBuf::new(format.sizes(values.len() / cols, cols)?);
        let done = format.encode_rows(values, cols, grid, importance, parts.parts_mut());
        done.map(|()| parts).map_err(|error| error.shifted(i * step * cols))
    };
    let pieces: Vec<Result<PartsBuf, CodecErr>> = values.par_chunks(step * cols).enumerate().map(encode).collect();
    let mut all = PartsBuf { codes: Vec::new(), scales: Vec::new(), zeros: Vec::new() };
    for (i, piece) in pieces.into_iter().enumerate() {
        let piece = piece?;
        all.codes.extend(piece.codes);
        // All pieces of a tensor with a single scale carry the same one; keep it once.
        if i == 0 || !is_shared(format) {
            all.scales.extend(piece.scales);
            all.zeros.extend(piece.zeros);
        }
    }
    QuantizedTensor::from_parts(format, values.len() / cols, cols, all)
}

/// Decodes the weights.
///
/// # Errors
/// Same as [`QuantizedTensor::dequantize`].
pub fn dequantize(tensor: &QuantizedTensor) -> Result<Vec<f32>, CodecErr> {
    let (rows, cols) = tensor.shape();
    let step = rows_at_a_time(cols);
    if rows <= step || cols == 0 {
        return tensor.dequantize();
    }
    let mut out = vec![0.0; rows * cols];
    let pieces = out.par_chunks_mut(step * cols).enumerate();
    let done: Vec<Result<(), CodecErr>> = pieces.map(|(i, out)| decode(tensor, i * step, out)).collect();
    done.into_iter().collect::<Result<(), _>>().map(|()| out)
}

/// Measures the error relative to `original`.
///
/// # Errors
/// Same as [`QuantizedTensor::error`].
pub fn fidelity(tensor: &QuantizedTensor, original: &[f32]) -> Result<Fidelity, CodecErr> {
    let (rows, cols) = tensor.shape();
    let step = rows_at_a_time(cols);
    if original.len() != rows * cols || cols == 0 {
        return tensor.error(original);
    }
    let measure = |(i, original): (usize, &[f32])| {
        let mut back = vec![0.0; original.len()];
        decode(tensor, i * step, &mut back)?;
        Ok(error_sums(Backend::best(), original, &back)?)
    };
    let pieces: Vec<Result<ErrorSums, CodecErr>> = original.par_chunks(step * cols).enumerate().map(measure).collect();
    // Sum in order: floating-point addition is not associative, and results must not depend on the threads.
    let sums = pieces.into_iter().try_fold(ErrorSums::default(), |sums, piece| piece.map(|piece| sums.merge(piece)))?;
    Ok(Fidelity::of(sums, original.len()))
}

/// Replaces NaN and infinities in rows of `cols` according to `policy`, row by row. Returns `None` if all
/// values are finite or the policy is to reject.
#[must_use]
pub fn replace_non_finite(values: &[f32], cols: usize, policy: NonFinite) -> Option<Vec<f32>> {
    if policy == NonFinite::Reject || check_finite(values).is_ok() {
        return None;
    }
    let mut values = values.to_vec();
    values.par_chunks_mut(cols.max(1)).for_each(|row| policy.sanitize(row));
    Some(values)
}

/// Decodes rows from `first` on until `out` is full.
fn decode(tensor: &QuantizedTensor, first: usize, out: &mut [f32]) -> Result<(), CodecErr> {
    let (format, (_, cols), parts) = (tensor.format(), tensor.shape(), tensor.parts());
    let (before, here) = (format.sizes(first, cols)?, format.sizes(out.len() / cols, cols)?);
    let (scales, zeros) = if is_shared(format) { (0, 0) } else { (before.scales, before.zeros) };
    let parts = Parts {
        codes: &parts.codes[before.codes..][..here.codes],
        scales: &parts.scales[scales..][..here.scales],
        zeros: &parts.zeros[zeros..][..here.zeros],
    };
    format.decode_rows(parts, cols, out).map_err(|error| error.shifted(first * cols))
}

/// Returns whether all rows share one scale.
fn is_shared(format: WeightFormat) -> bool {
    matches!(format, WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Tensor, .. }))
}

fn rows_at_a_time(cols: usize) -> usize {
    (PIECE / cols.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 % 1013) as f32 - 500.0) / 611.0).collect()
    }

    #[test]
    fn every_format_gives_the_bytes_and_values_of_one_thread() {
        let weights = weights(3 * PIECE);
        for name in [
            "float16",
            "fp8_e4m3",
            "int8",
            "int8/tensor",
            "uint4/32",
            "uint8/tensor",
            "ternary",
            "binary",
            "q4_0",
            "q6_k",
            "q4f32",
        ] {
            let format = name.parse().expect(name);
            let tensor = quantize(format, &weights, 768, None).expect("finite");
            let alone = QuantizedTensor::quantize(format, &weights, 768).expect("finite");
            assert!(tensor == alone, "{name}");
            let back = dequantize(&tensor).expect("valid codes");
            assert_eq!(back, alone.dequantize().expect("valid codes"), "{name}");
            let (many, one) = (fidelity(&tensor, &weights), alone.error(&weights));
            let (many, one) = (many.expect("matching lengths"), one.expect("matching lengths"));
            assert_eq!(many.max_error, one.max_error, "{name}");
            assert!((many.rms_error - one.rms_error).abs() <= 1e-9 * one.rms_error, "{name}");
        }
    }

    #[test]
    fn the_first_non_finite_weight_is_reported() {
        let mut weights = weights(4 * PIECE);
        for at in [2 * PIECE + 5, 2 * PIECE + 6, 4 * PIECE - 1] {
            weights[at] = f32::NAN;
        }
        for name in ["int8", "int8/tensor", "q8_0"] {
            let refused = quantize(name.parse().expect(name), &weights, 256, None);
            assert_eq!(refused, Err(CodecErr::NonFinite { index: 2 * PIECE + 5 }), "{name}");
        }
    }

    #[test]
    fn non_finite_values_are_replaced_row_by_row() {
        let odd = [1.0, f32::NAN, f32::NEG_INFINITY, 7.0, 2.0, f32::INFINITY];
        assert_eq!(replace_non_finite(&odd, 3, NonFinite::Clamp), Some(vec![1.0, 0.0, -1.0, 7.0, 2.0, 7.0]));
        assert_eq!(replace_non_finite(&odd, 3, NonFinite::Zero), Some(vec![1.0, 0.0, 0.0, 7.0, 2.0, 0.0]));
        assert_eq!(replace_non_finite(&odd, 3, NonFinite::Reject), None);
        assert_eq!(replace_non_finite(&[1.0], 1, NonFinite::Zero), None);
    }

    #[test]
    fn matrices_without_rows_or_columns_are_fine_and_ragged_ones_are_not() {
        let int8 = "int8".parse().expect("known");
        for cols in [0, 5] {
            let tensor = quantize(int8, &[], cols, None).expect("nothing to do");
            assert_eq!(dequantize(&tensor), Ok(Vec::new()));
            assert_eq!(fidelity(&tensor, &[]).map(|lost| lost.max_error), Ok(0.0));
        }
        assert_eq!(quantize(int8, &[1.0; 7], 5, None), Err(CodecErr::RaggedBlocks { len: 7, block: 5 }));
        assert_eq!(
            fidelity(&quantize(int8, &[1.0; 10], 5, None).expect("finite"), &[1.0; 9]).map(|_| ()),
            Err(CodecErr::LengthMismatch { left: 9, right: 10 })
        );
    }
}
