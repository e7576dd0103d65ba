//! Checksums: the CRC-32 of ZIP and the CRC-32C of our own files.

use bitgrain_kernels::Backend;

/// The reflected polynomial of ZIP.
const ZIP: u32 = 0xedb8_8320;

static ZIP_TABLE: [u32; 256] = bytes_table(ZIP);

/// Remainders of the 256 bytes.
const fn bytes_table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0u32;
    while byte < 256 {
        let (mut remainder, mut bit) = (byte, 0);
        while bit < 8 {
            remainder = (remainder >> 1) ^ (polynomial * (remainder & 1));
            bit += 1;
        }
        table[byte as usize] = remainder;
        byte += 1;
    }
    table
}

fn step(table: &[u32; 256], crc: u32, byte: u8) -> u32 {
    let [low, ..] = crc.to_le_bytes();
    (crc >> 8) ^ table[usize::from(low ^ byte)]
}

/// The checksum of ZIP.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| step(&ZIP_TABLE, crc, byte))
}

/// The checksum of our own files.
///
/// ```
/// assert_eq!(bitgrain_formats::crc32c(b"123456789"), 0xe306_9283); // the check value of the catalogue of CRCs
/// ```
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_after(0, bytes)
}

/// The checksum of bytes with checksum `crc` and `bytes` behind them.
pub(crate) fn crc32c_after(crc: u32, bytes: &[u8]) -> u32 {
    bitgrain_kernels::crc32c(Backend::best(), crc, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_checksum_goes_on_where_another_ended() {
        let bytes = b"123456789";
        for at in 0..=bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(crc32c_after(crc32c(before), after), crc32c(bytes), "split at {at}");
        }
    }
}
