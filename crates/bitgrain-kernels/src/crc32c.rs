//! CRC-32C: the checksum of files.

use crate::Backend;
use crate::backend::on;

/// The CRC-32C (Castagnoli) of bytes whose checksum is `crc`, 0 for none, with `bytes` behind them.
///
/// ```
/// use bitgrain_kernels::{Backend, crc32c};
/// let whole = crc32c(Backend::best(), 0, b"123456789");
/// assert_eq!(whole, 0xe306_9283); // the check value of the catalogue of CRCs
/// assert_eq!(crc32c(Backend::best(), crc32c(Backend::best(), 0, b"1234"), b"56789"), whole);
/// ```
#[must_use]
pub fn crc32c(backend: Backend, crc: u32, bytes: &[u8]) -> u32 {
    !on!(backend, crc32c(!crc, bytes))
}

/// The reflected polynomial of Castagnoli, which finds more errors than that of ZIP and which processors have an
/// instruction for.
pub(crate) const POLYNOMIAL: u32 = 0x82f6_3b78;
