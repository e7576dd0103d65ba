//! Versions with scales that the caller chose instead of the calibration of their format.

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{Grid, PartsBuf, PartsMut, QuantizedTensor, ScaledFormat, Scaling, WeightFormat};

use super::WeightsError;

/// Quantizes to a format with scales per tensor, row or group, each a finite number above 0.
pub(super) fn quantize(
    format: WeightFormat,
    weights: &[f32],
    (rows, cols): (usize, usize),
    scales: &[f32],
) -> Result<QuantizedTensor, WeightsError> {
    let refused = |reason| WeightsError::NoScales { format: format.to_string(), reason };
    let WeightFormat::Scaled(scaled) = format else { return Err(refused("its blocks contain their scales")) };
    if scaled.dtype.is_plain() {
        return Err(refused("its codes are the weights themselves"));
    }
    if scaled.dtype.is_affine() {
        return Err(refused("its groups also have zero points"));
    }
    let sizes = format.sizes(rows, cols)?;
    if scales.len() != sizes.scales {
        let rows = if scaled.scaling == Scaling::Tensor { 1 } else { rows };
        let cols = sizes.scales / rows.max(1);
        return Err(WeightsError::Length { what: "the list of scales", found: scales.len(), rows, cols });
    }
    if let Some(index) = scales.iter().position(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return Err(CodecErr::InvalidScale { index }.into());
    }
    let mut parts = PartsBuf::new(sizes);
    let grid = |scale| Some(Grid { scale, zero: 0 });
    if scaled.scaling == Scaling::Tensor {
        scaled.encode_rows(weights, cols, grid(scales[0]), None, parts.parts_mut())?;
        return Ok(QuantizedTensor::from_parts(format, rows, cols, parts)?);
    }
    // Each group is a tensor with one scale.
    let one = ScaledFormat { scaling: Scaling::Tensor, ..scaled };
    let group = match scaled.scaling {
        Scaling::Group(len) => len.get(),
        Scaling::None | Scaling::Tensor | Scaling::Channel => cols,
    };
    let row_bytes = scaled.dtype.packed_len(cols);
    let mut given = scales.iter().zip(&mut parts.scales);
    for (row, codes) in weights.chunks(cols).zip(parts.codes.chunks_mut(row_bytes.max(1))) {
        for (values, codes) in row.chunks(group).zip(codes.chunks_mut(scaled.dtype.packed_len(group))) {
            let Some((&scale, stored)) = given.next() else { break };
            let out = PartsMut { codes, scales: std::slice::from_mut(stored), zeros: &mut [] };
            one.encode_rows(values, values.len(), grid(scale), None, out)?;
        }
    }
    Ok(QuantizedTensor::from_parts(format, rows, cols, parts)?)
}
