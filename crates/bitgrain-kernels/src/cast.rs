//! Casts between slices of signed codes and bytes; the two's complement bits do not change.

/// Casts `codes` to bytes.
pub(crate) fn as_bytes(codes: &[i8]) -> &[u8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the lifetime is kept.
    unsafe { core::slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) }
}

/// Casts `codes` to mutable bytes.
pub(crate) fn as_bytes_mut(codes: &mut [i8]) -> &mut [u8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the borrow stays unique.
    unsafe { core::slice::from_raw_parts_mut(codes.as_mut_ptr().cast(), codes.len()) }
}

/// Casts bytes to signed codes.
pub(crate) fn as_codes(bytes: &[u8]) -> &[i8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the lifetime is kept.
    unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
