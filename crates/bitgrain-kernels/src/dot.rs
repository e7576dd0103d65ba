//! Dot products of codes.

use crate::backend::on;
use crate::width::blocks_len;
use crate::{Backend, BitWidth, BlockLen, KernelError};

/// Computes `sum(a[i] * b[i])` exactly, for slices of any length.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::codes::dot_i8;
/// assert_eq!(dot_i8(Backend::best(), &[1, -2, 3], &[4, 5, -6])?, 4 - 10 - 18);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if the slices differ in length.
pub fn dot_i8(backend: Backend, a: &[i8], b: &[i8]) -> Result<i64, KernelError> {
    if a.len() != b.len() {
        return Err(KernelError::InputTooSmall { required: a.len().max(b.len()) });
    }
    Ok(match backend.isa() {
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::Dotprod` and `Isa::I8mm` are only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::Dotprod | crate::backend::Isa::I8mm => unsafe { crate::aarch64::dotprod::dot_i8(a, b) },
        _ => on!(backend, dot_i8(a, b)),
    })
}

/// Computes the dot product of `values` with as many values encoded as blocks, without decoding them to memory.
///
/// The order of summation is fixed: in each block, lane `i % 16` adds `values[i] * code[i]` in order of `i`; the
/// block's sixteen sums times its scale are added to sixteen totals; the totals are added in halves (8, 4, 2, 1). No
/// operation is fused. Every backend therefore returns the same bits, except for the payload of a NaN.
///
/// # Errors
/// Returns the errors of [`decode_blocks`](crate::blocks::decode_blocks).
pub fn dot_blocks(
    backend: Backend,
    width: BitWidth,
    block: BlockLen,
    values: &[f32],
    bytes: &[u8],
) -> Result<f32, KernelError> {
    let required = blocks_len(width, block, values.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    on!(backend, dot_blocks(width, block.get(), values, bytes))
        .ok_or_else(|| crate::blocks::first_bad_block(width, block, bytes, values.len()))
}

/// Evaluates `$run` for each block, with its values, its packed codes and its scale; it adds the block's scaled lane sums
/// to the totals and returns whether the codes are valid.
macro_rules! dot_walk {
    ($w:ident, $block:expr, $values:expr, $bytes:expr, |$one:ident, $codes:ident, $scale:ident| $run:expr) => {{
        let qmax: u8 = (1 << ($w - 1)) - 1;
        let mut rest: &[u8] = $bytes;
        let mut good = true;
        $crate::blocks::for_blocks!($block, as_chunks, chunks, $values, |$one| {
            let $scale = $crate::blocks::read_scale(rest);
            good &= $crate::blocks::usable_scale($scale, qmax);
            let $codes = &rest[$crate::width::SCALE_LEN..];
            good &= $run;
            rest = &$codes[($one.len() * $w as usize).div_ceil(8)..];
        });
        good
    }};
}

/// Adds the sixteen totals in halves: the last step of [`dot_blocks`].
pub(crate) fn sum_in_halves(mut totals: [f32; 16]) -> f32 {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            totals[lane] += totals[lane + half];
        }
    }
    totals[0]
}

pub(crate) use dot_walk;
