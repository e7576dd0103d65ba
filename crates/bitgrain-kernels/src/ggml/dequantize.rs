//! Dequantization of llama.cpp blocks.

use crate::backend::on;
use crate::ggml::GgmlBlock;
use crate::{Backend, KernelError};

/// Dequantizes blocks into `out`. Returns the number of bytes read.
///
/// Every byte pattern is valid; a scale that is NaN or infinite gives values that are not finite.
///
/// # Errors
/// Returns [`KernelError::RaggedBlocks`] if `out` does not hold whole blocks, or [`KernelError::InputTooSmall`].
pub fn dequantize_ggml(
    backend: Backend,
    block: GgmlBlock,
    bytes: &[u8],
    out: &mut [f32],
) -> Result<usize, KernelError> {
    let ragged = KernelError::RaggedBlocks { len: out.len(), block: block.weights() };
    let required = block.bytes_of(out.len()).ok_or(ragged)?;
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    on!(backend, dequantize_ggml(block, bytes, out));
    Ok(required)
}
