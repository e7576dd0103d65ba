//! Checksums: the same for every backend.

use bitgrain_kernels::{Backend, crc32c};

use crate::{Bits, lengths};

/// Lengths around one and several segments of every size that backends process at once.
fn long_lengths() -> impl Iterator<Item = usize> {
    let around = [3 * 40, 6 * 40, 3 * 336, 6 * 336, 3 * 4096, 6 * 4096 + 3 * 336 + 3 * 40];
    around.into_iter().flat_map(|len| len - 9..=len + 9)
}

#[test]
fn checksums_are_the_same_at_every_length_and_after_every_checksum() {
    let bytes = Bits(4).bytes(30_000);
    for &backend in &Backend::available()[1..] {
        for len in lengths().chain(long_lengths()) {
            for before in [0, 1, 0x8000_0000, !0, 0x1234_5678] {
                let want = crc32c(Backend::scalar(), before, &bytes[..len]);
                assert_eq!(crc32c(backend, before, &bytes[..len]), want, "{backend} {len} bytes after {before:x}");
            }
        }
    }
}

#[test]
fn every_bit_counts_wherever_it_is() {
    let mut bytes = Bits(5).bytes(3 * 4096 + 3 * 336 + 3 * 40 + 13);
    for &backend in Backend::available() {
        let whole = crc32c(backend, 0, &bytes);
        for at in (0..bytes.len()).step_by(7) {
            bytes[at] ^= 1 << (at % 8);
            assert_ne!(crc32c(backend, 0, &bytes), whole, "{backend}: byte {at}");
            assert_eq!(crc32c(backend, 0, &bytes), crc32c(Backend::scalar(), 0, &bytes), "{backend}: byte {at}");
            bytes[at] ^= 1 << (at % 8);
        }
    }
}

#[test]
fn published_values_are_reproduced() {
    let ascending: Vec<u8> = (0..32).collect();
    for &backend in Backend::available() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(backend, 0, &[0; 32]), 0x8a91_36aa, "{backend}");
        assert_eq!(crc32c(backend, 0, &[0xff; 32]), 0x62a8_ab43, "{backend}");
        assert_eq!(crc32c(backend, 0, &ascending), 0x46dd_794e, "{backend}");
    }
}
