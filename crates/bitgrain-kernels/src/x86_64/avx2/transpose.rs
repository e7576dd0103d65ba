//! Transpose of eight rows of eight f32.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

/// Transposes: value `j` of register `i` becomes value `i` of register `j`.
#[inline]
#[avx2]
pub(super) fn transpose(rows: [__m256; 8]) -> [__m256; 8] {
    // Within each half of a register: a 4 by 4 transpose of four rows.
    let mut halves = [_mm256_setzero_ps(); 8];
    for (out, rows) in halves.as_chunks_mut::<4>().0.iter_mut().zip(rows.as_chunks::<4>().0) {
        let [a, b, c, d] = *rows;
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        *out = [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_low, cd_low),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_low, cd_low),
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
        ];
    }
    // Then swap the halves between the first four registers and the last four.
    let mut columns = halves;
    for place in 0..4 {
        columns[place] = _mm256_permute2f128_ps::<0x20>(halves[place], halves[4 + place]);
        columns[4 + place] = _mm256_permute2f128_ps::<0x31>(halves[place], halves[4 + place]);
    }
    columns
}
