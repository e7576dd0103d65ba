//! Views of signed codes as bytes. The two's complement bits are the same; only the type changes.

/// `codes` as bytes.
pub(crate) fn as_bytes(codes: &[i8]) -> &[u8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the lifetime is kept.
    unsafe { core::slice::from_raw_parts(codes.as_ptr().cast(), codes.len()) }
}

/// `codes` as bytes to write to.
pub(crate) fn as_bytes_mut(codes: &mut [i8]) -> &mut [u8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the borrow stays unique.
    unsafe { core::slice::from_raw_parts_mut(codes.as_mut_ptr().cast(), codes.len()) }
}

/// Bytes as the signed codes they hold.
pub(crate) fn as_codes(bytes: &[u8]) -> &[i8] {
    // SAFETY: i8 and u8 have the same size and alignment, every bit pattern is valid, the lifetime is kept.
    unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
