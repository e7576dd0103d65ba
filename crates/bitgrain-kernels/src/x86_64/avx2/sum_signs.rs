//! Sums over sign codes: 32 table look-ups per instruction.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_bytes, load_half, store_bytes};
use crate::sum_signs::{SIGN_GROUP, TABLES_PER_RUN};

#[avx2]
pub(crate) fn sum_signs(tables: &[[u8; 16]], codes: &[u8], out: &mut [u32]) {
    let groups = codes.chunks_exact(tables.len() * 16).zip(out.as_chunks_mut::<SIGN_GROUP>().0);
    for (codes, out) in groups {
        let runs = tables.chunks(TABLES_PER_RUN).zip(codes.chunks(TABLES_PER_RUN * 16));
        for (tables, codes) in runs {
            let mut sums = Sums { low: [_mm256_setzero_si256(); 2], high: [_mm256_setzero_si256(); 2] };
            let (tables, last_table) = tables.as_chunks::<2>();
            let (codes, last_codes) = codes.as_chunks::<32>();
            for (tables, codes) in tables.iter().zip(codes) {
                sums.add(load_bytes(tables.as_flattened().as_array().unwrap_or(&[0; 32])), load_bytes(codes));
            }
            if let ([table], Some(codes)) = (last_table, last_codes.first_chunk()) {
                // The second table is all zeros.
                sums.add(_mm256_zextsi128_si256(load_half(table)), _mm256_zextsi128_si256(load_half(codes)));
            }
            let (low, high) = out.split_at_mut(SIGN_GROUP / 2);
            add_sums(sums.low, low);
            add_sums(sums.high, high);
        }
    }
}

/// Sums of 16-bit lanes. The first register adds pairs of bytes as they are, the second one only the odd bytes, so that
/// the sums of the even bytes follow without masks.
struct Sums {
    low: [__m256i; 2],
    high: [__m256i; 2],
}

impl Sums {
    #[inline]
    #[avx2]
    fn add(&mut self, tables: __m256i, codes: __m256i) {
        let nibble = _mm256_set1_epi8(15);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), nibble);
        add_entries(&mut self.low, _mm256_shuffle_epi8(tables, _mm256_and_si256(codes, nibble)));
        add_entries(&mut self.high, _mm256_shuffle_epi8(tables, high));
    }
}

#[inline]
#[avx2]
fn add_entries(sums: &mut [__m256i; 2], entries: __m256i) {
    sums[0] = _mm256_add_epi16(sums[0], entries);
    sums[1] = _mm256_add_epi16(sums[1], _mm256_srli_epi16::<8>(entries));
}

/// Adds the sums of sixteen vectors to `out`.
#[inline]
#[avx2]
fn add_sums(sums: [__m256i; 2], out: &mut [u32]) {
    let even = _mm256_sub_epi16(sums[0], _mm256_slli_epi16::<8>(sums[1]));
    let halves = |lanes: __m256i| _mm_add_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let (even, odd) = (halves(even), halves(sums[1]));
    let in_order = [_mm_unpacklo_epi16(even, odd), _mm_unpackhi_epi16(even, odd)];
    for (out, sums) in out.as_chunks_mut::<8>().0.iter_mut().zip(in_order) {
        let mut wide = [0; 32];
        store_bytes(&mut wide, _mm256_cvtepu16_epi32(sums));
        for (out, sum) in out.iter_mut().zip(wide.as_chunks::<4>().0) {
            *out = out.wrapping_add(u32::from_le_bytes(*sum));
        }
    }
}
