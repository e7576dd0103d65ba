//! CRC-32C checksum.

use crate::Backend;
use crate::backend::on;

/// Extends the CRC-32C (Castagnoli) checksum `crc` of earlier bytes, initially 0, by `bytes`.
///
/// ```
/// use bitgrain_kernels::{Backend, crc32c};
/// let whole = crc32c(Backend::best(), 0, b"123456789");
/// assert_eq!(whole, 0xe306_9283); // the check value of CRC-32C
/// assert_eq!(crc32c(Backend::best(), crc32c(Backend::best(), 0, b"1234"), b"56789"), whole);
/// ```
#[must_use]
pub fn crc32c(backend: Backend, crc: u32, bytes: &[u8]) -> u32 {
    !match backend.isa() {
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        // SAFETY: `Isa::Dotprod` and `Isa::I8mm` are only handed out by `Backend::available` after CPU detection.
        crate::backend::Isa::Dotprod | crate::backend::Isa::I8mm => unsafe {
            crate::aarch64::crc32c::crc32c(!crc, bytes)
        },
        _ => on!(backend, crc32c(!crc, bytes)),
    }
}

/// Reflected Castagnoli polynomial: detects more errors than the ZIP polynomial and is implemented by CPU instructions.
pub(crate) const POLYNOMIAL: u32 = 0x82f6_3b78;
