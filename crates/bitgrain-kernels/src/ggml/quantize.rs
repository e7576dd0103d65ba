//! Quantization to llama.cpp blocks.

use super::rounded::Rounded;
use super::scale_search::{self, Rows};
use crate::backend::on;
use crate::ggml::GgmlBlock;
use crate::{Backend, KernelError};

/// Quantizes rows of `row_len` weights. Returns the number of bytes written.
///
/// `importance` holds one non-negative number per column, `row_len` of them, as in an importance matrix; formats for
/// which [`GgmlBlock::uses_importance`] is false ignore it. Values should be finite: a NaN gets an arbitrary code, an
/// infinity makes the scale of its block infinite.
///
/// # Errors
/// Returns [`KernelError::RaggedBlocks`] if a row does not fill whole blocks or the values do not fill complete rows,
/// [`KernelError::InputTooSmall`] if the importance is shorter than a row, or [`KernelError::OutputTooSmall`].
pub fn quantize_ggml(
    backend: Backend,
    block: GgmlBlock,
    values: &[f32],
    row_len: usize,
    importance: Option<&[f32]>,
    out: &mut [u8],
) -> Result<usize, KernelError> {
    let ragged = KernelError::RaggedBlocks { len: row_len, block: block.weights() };
    if row_len == 0 || !values.len().is_multiple_of(row_len) || !row_len.is_multiple_of(block.weights()) {
        return Err(ragged);
    }
    let required = block.bytes_of(values.len()).ok_or(ragged)?;
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    let importance = match importance {
        Some(importance) if block.uses_importance() => {
            Some(importance.get(..row_len).ok_or(KernelError::InputTooSmall { required: row_len })?)
        }
        _ => None,
    };
    let searched = scale_search::quantize(backend, block, Rows { values, row_len, importance }, out);
    if let Some(format) = Rounded::of(block).filter(|_| !searched) {
        on!(backend, round_ggml(format, values, out));
    }
    Ok(required)
}
