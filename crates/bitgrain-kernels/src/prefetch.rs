//! Asking for memory before it is needed.

/// Asks for bytes that will be read in a moment, as far as 8 KiB. Memory then brings their lines all at once, instead of one
/// or two at a time as whoever reads them comes by. Changes nothing but the time.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes[..bytes.len().min(8 << 10)].chunks(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
        // SAFETY: a prefetch never faults, wherever it points.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast())
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
