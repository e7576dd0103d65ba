//! Bit packing: least significant bit first, little-endian bytes, spare bits zero.

use crate::backend::on;
use crate::cast::as_bytes;
use crate::{Backend, BitWidth, KernelError, UnsignedWidth};

/// Packs signed codes, each biased by `qmax` to be unsigned. Returns the number of bytes written.
///
/// ```
/// use bitgrain_kernels::{Backend, BitWidth};
/// use bitgrain_kernels::codes::pack_i8;
/// let mut out = [0; 3];
/// assert_eq!(pack_i8(Backend::best(), BitWidth::W3, &[-3, -2, -1], &mut out)?, 2);
/// assert_eq!(out, [0b10_001_000, 0, 0]); // 0, 1, 2 from the lowest bit up
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`], or [`KernelError::CodeOutOfRange`] for the first code beyond
/// `-qmax..=qmax`.
pub fn pack_i8(backend: Backend, width: BitWidth, codes: &[i8], out: &mut [u8]) -> Result<usize, KernelError> {
    let required = width.packed_len(codes.len());
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    let qmax = width.qmax();
    if on!(backend, pack_bytes(width.bits(), qmax, 2 * qmax, as_bytes(codes), out)) {
        return Ok(required);
    }
    Err(first_out_of_range(codes.iter().map(|&c| i32::from(c)), -i32::from(qmax), i32::from(qmax)))
}

/// Packs unsigned codes of 1 to 8 bits. Returns the number of bytes written.
///
/// # Errors
/// Returns [`KernelError::InvalidBitWidth`] above 8 bits, [`KernelError::OutputTooSmall`], or
/// [`KernelError::CodeOutOfRange`] for the first code that does not fit.
pub fn pack_u8(backend: Backend, width: UnsignedWidth, codes: &[u8], out: &mut [u8]) -> Result<usize, KernelError> {
    let max = u8::try_from(width.max_code()).map_err(|_| KernelError::InvalidBitWidth { bits: width.bits() })?;
    let required = width.packed_len(codes.len());
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    if on!(backend, pack_bytes(width.bits(), 0, max, codes, out)) {
        return Ok(required);
    }
    Err(first_out_of_range(codes.iter().map(|&c| i32::from(c)), 0, i32::from(max)))
}

/// Packs unsigned codes of 1 to 16 bits. Returns the number of bytes written.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`], or [`KernelError::CodeOutOfRange`] for the first code that does not fit.
pub fn pack_u16(backend: Backend, width: UnsignedWidth, codes: &[u16], out: &mut [u8]) -> Result<usize, KernelError> {
    let required = width.packed_len(codes.len());
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    if on!(backend, pack_words(width, codes, out)) {
        return Ok(required);
    }
    Err(first_out_of_range(codes.iter().map(|&c| i32::from(c)), 0, i32::from(width.max_code())))
}

/// Finds the first code out of range. Kernels only report that one exists, which keeps the index off the hot path.
#[cold]
pub(crate) fn first_out_of_range(codes: impl Iterator<Item = i32>, min: i32, max: i32) -> KernelError {
    let mut odd = codes.enumerate().skip_while(|&(_, c)| (min..=max).contains(&c));
    let (index, code) = odd.next().unwrap_or((usize::MAX, 0));
    debug_assert!(index != usize::MAX, "a kernel rejected codes that are all in range");
    KernelError::CodeOutOfRange { index, code }
}
