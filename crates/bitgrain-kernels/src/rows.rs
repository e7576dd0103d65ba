//! Records of bytes on the two sides of a split: which go where, and trading places.

use crate::error::KernelError;
use crate::histogram::MAX_SLOTS;

/// One bit for each row of `width` bytes, lowest first: whether `table` says 1 to the row's byte at `slot`. Returns how
/// many do. `table` holds zeros and ones.
///
/// # Errors
/// [`KernelError::SlotCount`] if the slot is not in the row, [`KernelError::RowCount`] if the bytes are not whole rows,
/// [`KernelError::OutputTooSmall`].
pub fn flag_rows(
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
    let mut count = 0;
    for (rows, out) in rows.chunks(64 * width).zip(out) {
        let bytes = rows[slot..].iter().step_by(width);
        let word = bytes.zip(0..).fold(0, |word, (&byte, bit)| word | u64::from(table[usize::from(byte)]) << bit);
        count += word.count_ones() as usize;
        *out = word;
    }
    Ok(count)
}

/// Row `left[i]` of one list and row `right[i]` of another trade places, for each `i`. Rows have `width` bytes.
///
/// # Errors
/// [`KernelError::SlotCount`] unless the width is a multiple of 4 up to [`MAX_SLOTS`].
///
/// # Panics
/// If a row is not there.
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
        16 => swap::<16>(left_rows, right_rows, left, right),
        20 => swap::<20>(left_rows, right_rows, left, right),
        24 => swap::<24>(left_rows, right_rows, left, right),
        28 => swap::<28>(left_rows, right_rows, left, right),
        MAX_SLOTS => swap::<MAX_SLOTS>(left_rows, right_rows, left, right),
        slots => return Err(KernelError::SlotCount { slots }),
    }
    Ok(())
}

fn swap<const W: usize>(left_rows: &mut [u8], right_rows: &mut [u8], left: &[u32], right: &[u32]) {
    let (left_rows, right_rows) = (left_rows.as_chunks_mut::<W>().0, right_rows.as_chunks_mut::<W>().0);
    for (&l, &r) in left.iter().zip(right) {
        core::mem::swap(&mut left_rows[l as usize], &mut right_rows[r as usize]);
    }
}
