//! Software prefetches.

use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use crate::product::{CodeLine, FloatLine};

/// Distance in bytes between a block and its prefetch.
const DISTANCE: usize = 4096;

/// Prefetches input that the loop needs some blocks later. Encoding a block takes longer than the CPU's lookahead:
/// without this, memory accesses and computation alternate (7.5 instead of 11 GB/s).
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_ahead(block: &[f32]) {
    for line in block.chunks(16) {
        // A prefetch never faults, even for an invalid address.
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast::<i8>().wrapping_add(DISTANCE));
    }
}

/// Prefetches output that the loop writes some blocks later. Two register stores per block are faster than L2 delivers
/// lines without it: 42 instead of 24 GB/s.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_output(block: &[f32; 32]) {
    for line in block.as_chunks::<16>().0 {
        // A prefetch never faults, even for an invalid address.
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast::<i8>().wrapping_add(DISTANCE / 2));
    }
}

/// Prefetches bytes that are decoded some stages later: streaming stores leave no work that would hide the latency.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_input(bytes: &[u8]) {
    for line in bytes.chunks(64) {
        // A prefetch never faults, even for an invalid address.
        _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast::<i8>().wrapping_add(DISTANCE));
    }
}

/// Prefetches codes some blocks ahead: the few instructions per line are faster than memory.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_strip<const N: usize>(lines: &[CodeLine; N]) {
    prefetch_strip_at(lines, DISTANCE);
}

/// Prefetches the codes `distance` bytes ahead.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_strip_at<const N: usize>(lines: &[CodeLine; N], distance: usize) {
    for line in lines {
        // A prefetch never faults, even for an invalid address.
        _mm_prefetch::<_MM_HINT_T0>(line.0.as_ptr().cast::<i8>().wrapping_add(distance));
    }
}

/// Number of rows between a row and its prefetch: rows of a few hundred bytes are scored faster than memory answers.
const ROWS_AHEAD: usize = 16;

/// Prefetches the row that is scored some rows after row `i`. Rows may be anywhere, so the CPU cannot predict them.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_row(bytes: &[u8], rows: &[usize], i: usize, row_bytes: usize) {
    let Some(&row) = rows.get(i + ROWS_AHEAD) else { return };
    for at in (0..row_bytes.min(DISTANCE)).step_by(64) {
        // A prefetch never faults, even for an invalid address.
        _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast::<i8>().wrapping_add(row + at));
    }
}

/// Prefetches the weights some columns ahead.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_line(line: &FloatLine) {
    // A prefetch never faults, even for an invalid address.
    _mm_prefetch::<_MM_HINT_T0>(line.0.as_ptr().cast::<i8>().wrapping_add(DISTANCE));
}

/// Prefetches what is some columns after this address.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch_at(at: *const u8) {
    // A prefetch never faults, even for an invalid address.
    _mm_prefetch::<_MM_HINT_T0>(at.cast::<i8>().wrapping_add(DISTANCE));
}
