//! Checksums: the CRC-32 of ZIP and the CRC-32C of segments, models and networks.

use bitgrain_kernels::Backend;

/// Returns the CRC-32 of ZIP (IEEE 802.3).
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Returns the CRC-32C (Castagnoli), the checksum of segments, models and networks.
///
/// ```
/// assert_eq!(bitgrain_formats::crc32c(b"123456789"), 0xe306_9283); // the check value of CRC-32C
/// ```
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_after(0, bytes)
}

/// Extends the checksum `crc` of earlier bytes by `bytes`.
pub(crate) fn crc32c_after(crc: u32, bytes: &[u8]) -> u32 {
    bitgrain_kernels::crc32c(Backend::best(), crc, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalog_is_reproduced() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_seeded_checksum_continues_another() {
        let bytes = b"123456789";
        for at in 0..=bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(crc32c_after(crc32c(before), after), crc32c(bytes), "split at {at}");
        }
    }
}
