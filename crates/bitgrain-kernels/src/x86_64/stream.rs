//! Non-temporal stores, for outputs too large to be read back from the caches.
//!
//! A plain store first fetches the line it overwrites; a non-temporal store does not, which saves a third of the memory
//! traffic of a large decode. Decoded blocks pass through a small buffer in L1, because blocks are not aligned to the
//! cache lines that such stores need.

use core::arch::x86_64::{_mm_sfence, _mm256_loadu_ps, _mm256_stream_ps};

use super::prefetch::prefetch_input;

/// Values decoded between two copies: 4 KiB.
pub(super) const STAGE: usize = 1024;

/// Minimum output size in bytes for streaming: measured, see `docs/decisions/006-streaming.md`.
const LARGE: usize = 16 << 20;

/// Buffer of decoded values.
#[repr(align(64))]
pub(super) struct Stage([f32; STAGE]);

impl Stage {
    pub(super) const fn new() -> Self {
        Self([0.0; STAGE])
    }

    pub(super) fn first(&mut self, len: usize) -> &mut [f32] {
        &mut self.0[..len]
    }
}

/// Returns whether the output is large enough and a block fits the buffer.
pub(super) fn pays(block: usize, out: &[f32]) -> bool {
    size_of_val(out) >= LARGE && block <= STAGE
}

/// Copies with non-temporal stores; the ends that do not fill a cache line are stored normally.
#[inline]
#[target_feature(enable = "avx")]
pub(super) fn copy(from: &[f32], to: &mut [f32]) {
    let lead = to.as_ptr().align_offset(64).min(to.len());
    let (from_head, from) = from.split_at(lead);
    let (to_head, to) = to.split_at_mut(lead);
    to_head.copy_from_slice(from_head);
    let (from_lines, from_tail) = from.as_chunks::<8>();
    let (to_lines, to_tail) = to.as_chunks_mut::<8>();
    for (from, to) in from_lines.iter().zip(to_lines) {
        // SAFETY: `from` is `&[f32; 8]`, 32 readable bytes.
        let eight = unsafe { _mm256_loadu_ps(from.as_ptr()) };
        // SAFETY: `to` is `&mut [f32; 8]`, and 32-byte aligned because the lead ends on a 64-byte boundary.
        unsafe { _mm256_stream_ps(to.as_mut_ptr(), eight) };
    }
    to_tail.copy_from_slice(from_tail);
}

/// Orders streamed stores before everything the caller does next.
#[target_feature(enable = "sse")]
pub(super) fn finish() {
    _mm_sfence();
}

/// Decodes blocks of `weights` values and `bytes_each` bytes with `decode`, streaming if the output is large.
#[inline]
#[target_feature(enable = "avx")]
pub(super) fn in_stages(
    weights: usize,
    bytes_each: usize,
    bytes: &[u8],
    out: &mut [f32],
    decode: impl Fn(&[u8], &mut [f32]),
) {
    if !pays(weights, out) {
        return decode(bytes, out);
    }
    let mut stage = Stage::new();
    let stride = STAGE / weights * bytes_each;
    for (bytes, out) in bytes.chunks(stride).zip(out.chunks_mut(STAGE / weights * weights)) {
        let stage = stage.first(out.len());
        prefetch_input(bytes);
        decode(bytes, stage);
        copy(stage, out);
    }
    finish();
}

/// Decodes a run of blocks like `decode_walk!`, streaming if the output is large.
macro_rules! stream_walk {
    ($w:ident, $block:expr, $bytes:expr, $out:expr) => {{
        use $crate::x86_64::stream;
        if !stream::pays($block, $out) {
            return decode_walk!($w, $block, $bytes, $out);
        }
        let mut stage = stream::Stage::new();
        let blocks = stream::STAGE / $block;
        let stride = blocks * ($crate::width::SCALE_LEN + $block / 8 * $w as usize);
        let mut good = true;
        for (i, out) in $out.chunks_mut(blocks * $block).enumerate() {
            let bytes = &$bytes[i * stride..];
            good &= decode_walk!($w, $block, bytes, stage.first(out.len()));
            stream::copy(stage.first(out.len()), out);
        }
        stream::finish();
        good
    }};
}

pub(super) use stream_walk;
