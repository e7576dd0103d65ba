//! Partitioning of row records at a split: flags for the side of each row, and swaps.

use crate::backend::Backend;
#[cfg(target_arch = "x86_64")]
use crate::backend::Isa;
use crate::error::KernelError;
use crate::histogram::MAX_SLOTS;

/// Sets one bit per row of `width` bytes, lowest first: the entry of `table`, 0 or 1, for the row's byte at `slot`.
/// Returns the number of ones.
///
/// # Errors
/// Returns [`KernelError::SlotCount`] unless the width is 4, 8, 12 or 16 and contains the slot,
/// [`KernelError::RowCount`] if the bytes do not fill complete rows, or [`KernelError::OutputTooSmall`].
pub fn flag_rows(
    backend: Backend,
    rows: &[u8],
    width: usize,
    slot: usize,
    table: &[u8; 256],
    out: &mut [u64],
) -> Result<usize, KernelError> {
    if slot >= width {
        return Err(KernelError::SlotCount { slots: width });
    }
    if !rows.len().is_multiple_of(width) {
        return Err(KernelError::RowCount { bytes: rows.len(), expected: rows.len() / width * width });
    }
    let required = (rows.len() / width).div_ceil(64);
    if out.len() < required {
        return Err(KernelError::OutputTooSmall { required });
    }
    match width {
        4 => flag::<4>(backend, rows, slot, table, out),
        8 => flag::<8>(backend, rows, slot, table, out),
        12 => flag::<12>(backend, rows, slot, table, out),
        MAX_SLOTS => flag::<MAX_SLOTS>(backend, rows, slot, table, out),
        slots => return Err(KernelError::SlotCount { slots }),
    }
    Ok(out[..required].iter().map(|word| word.count_ones() as usize).sum())
}

fn flag<const W: usize>(backend: Backend, rows: &[u8], slot: usize, table: &[u8; 256], out: &mut [u64]) {
    match backend.isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::Avx512` and `Isa::Amx` are only handed out by `Backend` after CPU detection.
        Isa::Avx512 | Isa::Amx => unsafe { crate::x86_64::avx512::flag_rows::<W>(rows, slot, table, out) },
        _ => flag_rows_body::<W>(rows, slot, table, out),
    }
}

/// Portable loop, which AVX2 uses as well.
pub(crate) fn flag_rows_body<const W: usize>(rows: &[u8], slot: usize, table: &[u8; 256], out: &mut [u64]) {
    let (words, rest) = rows.as_chunks::<W>().0.as_chunks::<64>();
    let bit = |row: &[u8; W]| u64::from(table[usize::from(row[slot])]);
    let line = |rows: &[[u8; W]]| rows.iter().zip(0..).fold(0, |bits, (row, at)| bits | bit(row) << at);
    for (rows, out) in words.iter().zip(&mut *out) {
        prefetch_rows(rows);
        // AArch64 shifts an operand by a constant for free: 3.2 instead of 6.3 instructions per row with eight rows at a
        // time. x86-64 has 3.5 instructions per row with all rows at once, and 4.4 otherwise.
        *out = if cfg!(target_arch = "x86_64") {
            line(rows)
        } else {
            rows.as_chunks::<8>().0.iter().fold(0, |bits, eight| bits >> 8 | line(eight) << 56)
        };
    }
    if !rest.is_empty() {
        out[words.len()] = line(rest);
    }
}

/// Prefetches the rows of a later word: one byte per row is too little work to hide the memory latency (1.2 instead of
/// 3.0 ns per row from memory).
#[inline(always)]
pub(crate) fn prefetch_rows<const W: usize>(rows: &[[u8; W]; 64]) {
    #[cfg(target_arch = "x86_64")]
    for line in rows.as_flattened().chunks(64) {
        prefetch(line.as_ptr().wrapping_add(4096));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = rows;
}

/// Number of swaps between the prefetch of a row and its swap.
const AHEAD: usize = 12;

#[inline(always)]
fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64. A prefetch never faults, wherever it points.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Swaps row `left[i]` of one list with row `right[i]` of another, for each `i`. Rows have `width` bytes.
///
/// # Errors
/// Returns [`KernelError::SlotCount`] unless the width is a multiple of 4 up to [`MAX_SLOTS`].
///
/// # Panics
/// Panics if a row index is out of bounds.
pub fn swap_rows(
    width: usize,
    left_rows: &mut [u8],
    right_rows: &mut [u8],
    left: &[u32],
    right: &[u32],
) -> Result<(), KernelError> {
    match width {
        4 => swap::<4>(left_rows, right_rows, left, right),
        8 => swap::<8>(left_rows, right_rows, left, right),
        12 => swap::<12>(left_rows, right_rows, left, right),
        MAX_SLOTS => swap::<MAX_SLOTS>(left_rows, right_rows, left, right),
        slots => return Err(KernelError::SlotCount { slots }),
    }
    Ok(())
}

fn swap<const W: usize>(left_rows: &mut [u8], right_rows: &mut [u8], left: &[u32], right: &[u32]) {
    let (left_rows, right_rows) = (left_rows.as_chunks_mut::<W>().0, right_rows.as_chunks_mut::<W>().0);
    for (at, (&l, &r)) in left.iter().zip(right).enumerate() {
        // If few rows are swapped, the hardware prefetcher cannot predict the next ones.
        let (Some(&later_l), Some(&later_r)) = (left.get(at + AHEAD), right.get(at + AHEAD)) else {
            core::mem::swap(&mut left_rows[l as usize], &mut right_rows[r as usize]);
            continue;
        };
        prefetch(&left_rows[later_l as usize]);
        prefetch(&right_rows[later_r as usize]);
        core::mem::swap(&mut left_rows[l as usize], &mut right_rows[r as usize]);
    }
}
