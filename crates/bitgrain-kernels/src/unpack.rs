//! Bit unpacking.

use crate::backend::on;
use crate::cast::{as_bytes, as_bytes_mut};
use crate::pack::first_out_of_range;
use crate::{Backend, BitWidth, KernelError, UnsignedWidth};

/// Unpacks `out.len()` signed codes and subtracts the bias. Returns the number of bytes read.
///
/// The pattern with every bit set would be `qmax + 1`, which no encoder writes: it is an error and does not wrap.
///
/// ```
/// use bitgrain_kernels::{Backend, BitWidth, KernelError};
/// use bitgrain_kernels::codes::unpack_i8;
/// let mut codes = [0; 2];
/// assert_eq!(unpack_i8(Backend::best(), BitWidth::W3, &[0b00_110_000], &mut codes)?, 1);
/// assert_eq!(codes, [-3, 3]);
/// let odd = unpack_i8(Backend::best(), BitWidth::W3, &[0b00_111_000], &mut codes);
/// assert_eq!(odd, Err(KernelError::CodeOutOfRange { index: 1, code: 4 }));
/// # Ok::<(), KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`], or [`KernelError::CodeOutOfRange`] for the first invalid code.
pub fn unpack_i8(backend: Backend, width: BitWidth, bytes: &[u8], out: &mut [i8]) -> Result<usize, KernelError> {
    let required = width.packed_len(out.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    let qmax = width.qmax();
    if on!(backend, unpack_bytes(width.bits(), qmax, 2 * qmax, bytes, as_bytes_mut(out))) {
        return Ok(required);
    }
    let unbiased = as_bytes(out).iter().map(|&c| i32::from(c.wrapping_add(qmax)) - i32::from(qmax));
    Err(first_out_of_range(unbiased, -i32::from(qmax), i32::from(qmax)))
}

/// Unpacks `out.len()` unsigned codes of 1 to 8 bits. Returns the number of bytes read.
///
/// # Errors
/// Returns [`KernelError::InvalidBitWidth`] above 8 bits, or [`KernelError::InputTooSmall`].
pub fn unpack_u8(backend: Backend, width: UnsignedWidth, bytes: &[u8], out: &mut [u8]) -> Result<usize, KernelError> {
    if width.bits() > 8 {
        return Err(KernelError::InvalidBitWidth { bits: width.bits() });
    }
    let required = width.packed_len(out.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    on!(backend, unpack_bytes(width.bits(), 0, u8::MAX, bytes, out));
    Ok(required)
}

/// Unpacks `out.len()` unsigned codes of 1 to 16 bits. Returns the number of bytes read.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`].
pub fn unpack_u16(backend: Backend, width: UnsignedWidth, bytes: &[u8], out: &mut [u16]) -> Result<usize, KernelError> {
    let required = width.packed_len(out.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    on!(backend, unpack_words(width, bytes, out));
    Ok(required)
}
