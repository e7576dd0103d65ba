//! Checksums: the CRC-32 of ZIP and the CRC-32C of our own files.

/// The reflected polynomial of ZIP.
const ZIP: u32 = 0xedb8_8320;
/// The reflected polynomial of Castagnoli, which finds more errors and which processors have an instruction for.
const CASTAGNOLI: u32 = 0x82f6_3b78;

static ZIP_TABLE: [u32; 256] = bytes_table(ZIP);
static CASTAGNOLI_TABLES: [[u32; 256]; 8] = tables(CASTAGNOLI);

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

/// Table `i` holds the remainders of the 256 bytes with `i` zeros behind them.
const fn tables(polynomial: u32) -> [[u32; 256]; 8] {
    let mut tables = [bytes_table(polynomial); 8];
    let mut i = 1;
    while i < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[i - 1][byte];
            tables[i][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        i += 1;
    }
    tables
}

fn step(table: &[u32; 256], crc: u32, byte: u8) -> u32 {
    let [low, ..] = crc.to_le_bytes();
    (crc >> 8) ^ table[usize::from(low ^ byte)]
}

/// The checksum of ZIP.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| step(&ZIP_TABLE, crc, byte))
}

/// The checksum of our own files, eight bytes at a time.
///
/// ```
/// assert_eq!(bitgrain_formats::crc32c(b"123456789"), 0xe306_9283); // the check value of the catalogue of CRCs
/// ```
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let crc = chunks.iter().fold(!0, |crc, chunk| {
        let mixed = (u64::from_le_bytes(*chunk) ^ u64::from(crc)).to_le_bytes();
        mixed.iter().zip(CASTAGNOLI_TABLES.iter().rev()).fold(0, |sum, (&byte, table)| sum ^ table[usize::from(byte)])
    });
    !rest.iter().fold(crc, |crc, &byte| step(&CASTAGNOLI_TABLES[0], crc, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn eight_bytes_at_a_time_are_one_at_a_time() {
        let bytes: Vec<u8> = (0..100_u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
        for len in 0..=bytes.len() {
            let one = !bytes[..len].iter().fold(!0, |crc, &byte| step(&CASTAGNOLI_TABLES[0], crc, byte));
            assert_eq!(crc32c(&bytes[..len]), one, "{len} bytes");
        }
    }
}
