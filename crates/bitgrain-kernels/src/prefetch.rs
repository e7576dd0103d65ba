//! Prefetching of memory.

/// Prefetches at most the first 8 KiB of `bytes`, which will be read soon. All cache lines are requested at once,
/// instead of one or two at a time as the reader reaches them. Affects only the timing.
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
