//! The checksum of ZIP: CRC-32 with the reflected polynomial 0xedb88320.

/// Remainders of the 256 bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u32;
    while byte < 256 {
        let (mut remainder, mut bit) = (byte, 0);
        while bit < 8 {
            remainder = (remainder >> 1) ^ (0xedb8_8320 * (remainder & 1));
            bit += 1;
        }
        table[byte as usize] = remainder;
        byte += 1;
    }
    table
};

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ TABLE[usize::from(low ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
