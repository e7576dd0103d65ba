//! Flags of rows at a split, 64 at a time: bytes are gathered and looked up in a table of four registers.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::rows::{flag_rows_body, prefetch_rows};

#[avx512]
pub(crate) fn flag_rows<const W: usize>(rows: &[u8], slot: usize, table: &[u8; 256], out: &mut [u64]) {
    let (words, rest) = rows.as_chunks::<W>().0.as_chunks::<64>();
    // A gather reads four bytes from each row's slot: the last word might read after the rows.
    let gathered = words.len().saturating_sub(usize::from(rest.is_empty()));
    let table_registers: [__m512i; 4] = core::array::from_fn(|i| {
        let quarter = table.as_chunks::<64>().0[i];
        // SAFETY: 64 readable bytes; `loadu` needs no alignment.
        unsafe { _mm512_loadu_si512(quarter.as_ptr().cast()) }
    });
    // Offsets of sixteen rows, W bytes apart.
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "W is at most 16")]
    let stride = _mm512_set1_epi32(W as i32);
    let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let offsets = _mm512_mullo_epi32(lanes, stride);
    for (rows, out) in words[..gathered].iter().zip(&mut *out) {
        prefetch_rows(rows);
        let mut bytes = [0_u8; 64];
        for (quarter, bytes) in rows.as_chunks::<16>().0.iter().zip(bytes.as_chunks_mut::<16>().0) {
            let first = quarter.as_flattened()[slot..].as_ptr();
            // SAFETY: the largest offset is 15 W, four bytes from the slot of the last row. They end in that row or in
            // the next one, and `gathered` excludes the word without a next row.
            let found = unsafe { _mm512_i32gather_epi32::<1>(offsets, first.cast()) };
            let low_bytes = _mm512_cvtepi32_epi8(found);
            // SAFETY: 16 writable bytes; `storeu` needs no alignment.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), low_bytes) };
        }
        // SAFETY: 64 readable bytes; `loadu` needs no alignment.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let low = _mm512_permutex2var_epi8(table_registers[0], bytes, table_registers[1]);
        let high = _mm512_permutex2var_epi8(table_registers[2], bytes, table_registers[3]);
        let found = _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(bytes), high);
        *out = _mm512_test_epi8_mask(found, found);
    }
    flag_rows_body::<W>(&rows[gathered * 64 * W..], slot, table, &mut out[gathered..]);
}
