//! Transpose of sixteen rows of sixteen f32.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

/// Transposes: value `j` of register `i` becomes value `i` of register `j`.
#[inline]
#[avx512]
pub(super) fn transpose(rows: [__m512; 16]) -> [__m512; 16] {
    // Within each quarter of a register: a 4 by 4 transpose of four rows.
    let mut quarters = [_mm512_setzero_ps(); 16];
    for (out, rows) in quarters.as_chunks_mut::<4>().0.iter_mut().zip(rows.as_chunks::<4>().0) {
        let [a, b, c, d] = *rows;
        let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        *out = [
            _mm512_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low),
            _mm512_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low),
            _mm512_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
            _mm512_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
        ];
    }
    // Then the quarters: a 4 by 4 transpose of them for each position within a quarter.
    let mut columns = quarters;
    for place in 0..4 {
        let [a, b, c, d] = [quarters[place], quarters[4 + place], quarters[8 + place], quarters[12 + place]];
        let (ab_low, ab_high) =
            (_mm512_shuffle_f32x4::<0b10_00_10_00>(a, b), _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b));
        let (cd_low, cd_high) =
            (_mm512_shuffle_f32x4::<0b10_00_10_00>(c, d), _mm512_shuffle_f32x4::<0b11_01_11_01>(c, d));
        columns[place] = _mm512_shuffle_f32x4::<0b10_00_10_00>(ab_low, cd_low);
        columns[8 + place] = _mm512_shuffle_f32x4::<0b11_01_11_01>(ab_low, cd_low);
        columns[4 + place] = _mm512_shuffle_f32x4::<0b10_00_10_00>(ab_high, cd_high);
        columns[12 + place] = _mm512_shuffle_f32x4::<0b11_01_11_01>(ab_high, cd_high);
    }
    columns
}
