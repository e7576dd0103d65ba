//! Restores a tensor from its packed codes, so that a version does not keep both.

use bitgrain_codec::weight::{GgmlBlock, PartsBuf, QuantizedTensor, Scaling, WeightFormat};
use bitgrain_kernels::Backend;
use bitgrain_kernels::UnsignedWidth;
use bitgrain_kernels::codes::pack_u8;
use bitgrain_kernels::ggml::{BlockJoiner, BlockParts};
use bitgrain_kernels::product::STRIP_ROWS;

use super::WeightsError;

/// Reads rows of packed codes and their scales.
pub(super) trait Rows {
    /// Writes the parts of block `at` of a row.
    fn block(&self, row: usize, at: usize, parts: &mut BlockParts) -> Result<(), WeightsError>;
    /// Writes the codes of a row, one per byte.
    fn codes(&self, row: usize, out: &mut [u8]) -> Result<(), WeightsError>;
    /// Returns the scale and the zero point of a group of a row.
    fn grid(&self, row: usize, group: usize) -> (f32, u8);
}

/// Restores blocks. Returns `None` for TQ1_0.
pub(super) fn of_blocks(
    block: GgmlBlock,
    (rows, cols): (usize, usize),
    source: &impl Rows,
) -> Result<Option<QuantizedTensor>, WeightsError> {
    let format = WeightFormat::Ggml(block);
    let Some(joiner) = BlockJoiner::new(block) else { return Ok(None) };
    let mut parts = PartsBuf::new(format.sizes(rows, cols)?);
    let per_row = cols / block.weights();
    let mut found = BlockParts { codes: [0; 256], halves: [0; 2], factors: [0; 16], min_factors: [0; 8] };
    for (at, out) in parts.codes.chunks_exact_mut(block.bytes()).enumerate() {
        source.block(at / per_row, at % per_row, &mut found)?;
        joiner.join(&found, out);
    }
    Ok(Some(QuantizedTensor::from_parts(format, rows, cols, parts)?))
}

/// Restores codes with separate scales, of at most 8 bits.
pub(super) fn of_scaled(
    format: WeightFormat,
    (rows, cols): (usize, usize),
    source: &impl Rows,
) -> Result<Option<QuantizedTensor>, WeightsError> {
    let WeightFormat::Scaled(scaled) = format else { return Ok(None) };
    let mut parts = PartsBuf::new(format.sizes(rows, cols)?);
    let (dtype, bits) = (scaled.dtype, scaled.dtype.bits());
    let pack = |codes: &[u8], out: &mut [u8]| -> Result<(), WeightsError> {
        if bits == 8 {
            out.copy_from_slice(codes);
        } else {
            pack_u8(Backend::best(), UnsignedWidth::new(bits)?, codes, out)?;
        }
        Ok(())
    };
    let mut codes = vec![0; cols];
    for (row, out) in parts.codes.chunks_exact_mut(dtype.packed_len(cols)).enumerate() {
        source.codes(row, &mut codes)?;
        pack(&codes, out)?;
    }
    let groups = match scaled.scaling {
        Scaling::Group(len) => cols.div_ceil(len.get()),
        Scaling::None | Scaling::Tensor | Scaling::Channel => 1,
    };
    for (at, scale) in parts.scales.iter_mut().enumerate() {
        *scale = source.grid(at / groups, at % groups).0;
    }
    let zero_bytes = dtype.packed_len(groups);
    for (row, out) in parts.zeros.chunks_exact_mut(zero_bytes).enumerate() {
        let zeros: Vec<u8> = (0..groups).map(|group| source.grid(row, group).1).collect();
        pack(&zeros, out)?;
    }
    Ok(Some(QuantizedTensor::from_parts(format, rows, cols, parts)?))
}

/// Returns the strip and the lane of a row.
pub(super) const fn place(row: usize) -> (usize, usize) {
    (row / STRIP_ROWS, row % STRIP_ROWS)
}
