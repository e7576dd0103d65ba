//! CRC-32C with the `crc32c` instruction. One stream of eight bytes per two or three cycles is faster than memory, so
//! that segments are not processed in parallel as on x86-64.

use core::arch::aarch64::{__crc32cb, __crc32cd};

use bitgrain_isa::dotprod;

/// Updates the remainder `crc` with `bytes`.
#[dotprod]
pub(crate) fn crc32c(mut crc: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        crc = __crc32cd(crc, u64::from_le_bytes(*word));
    }
    for &byte in rest {
        crc = __crc32cb(crc, byte);
    }
    crc
}
