//! CRC-32C, eight bytes at a time with eight tables.

use crate::crc32c::POLYNOMIAL;

static TABLES: [[u32; 256]; 8] = tables();

/// Computes the tables: table `i` holds the remainders of the 256 bytes followed by `i` zero bytes.
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0u32;
    while byte < 256 {
        let (mut remainder, mut i) = (byte, 0);
        while i < 8 {
            let mut bit = 0;
            while bit < 8 {
                remainder = (remainder >> 1) ^ (POLYNOMIAL * (remainder & 1));
                bit += 1;
            }
            tables[i][byte as usize] = remainder;
            i += 1;
        }
        byte += 1;
    }
    tables
}

/// Updates the remainder `crc` with `bytes`.
pub(crate) fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let crc = chunks.iter().fold(crc, |crc, chunk| {
        let mixed = (u64::from_le_bytes(*chunk) ^ u64::from(crc)).to_le_bytes();
        mixed.iter().zip(TABLES.iter().rev()).fold(0, |sum, (&byte, table)| sum ^ table[usize::from(byte)])
    });
    rest.iter().fold(crc, |crc, &byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ TABLES[0][usize::from(low ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes one bit at a time, by the definition.
    fn by_bits(crc: u32, bytes: &[u8]) -> u32 {
        let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| u32::from(byte >> bit & 1)));
        bits.fold(crc, |crc, bit| (crc >> 1) ^ (POLYNOMIAL * ((crc ^ bit) & 1)))
    }

    #[test]
    fn eight_bytes_at_a_time_equal_one_bit_at_a_time() {
        let bytes: [u8; 100] = core::array::from_fn(|i| i.wrapping_mul(37).to_le_bytes()[0] ^ 0x5a);
        for len in 0..=bytes.len() {
            assert_eq!(crc32c(!0, &bytes[..len]), by_bits(!0, &bytes[..len]), "{len} bytes");
        }
    }
}
