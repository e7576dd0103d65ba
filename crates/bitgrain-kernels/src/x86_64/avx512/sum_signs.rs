//! Sums over sign codes: 64 table look-ups per instruction.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_bytes, load_prefix, store_bytes};
use crate::sum_signs::{SIGN_GROUP, TABLES_PER_RUN};

#[avx512]
pub(crate) fn sum_signs(tables: &[[u8; 16]], codes: &[u8], out: &mut [u32]) {
    let groups = codes.chunks_exact(tables.len() * 16).zip(out.as_chunks_mut::<SIGN_GROUP>().0);
    for (codes, out) in groups {
        let runs = tables.chunks(TABLES_PER_RUN).zip(codes.chunks(TABLES_PER_RUN * 16));
        for (tables, codes) in runs {
            let mut sums = Sums { low: [_mm512_setzero_si512(); 2], high: [_mm512_setzero_si512(); 2] };
            let (tables, last_tables) = tables.as_flattened().as_chunks::<64>();
            let (codes, last_codes) = codes.as_chunks::<64>();
            for (tables, codes) in tables.iter().zip(codes) {
                sums.add(load_bytes(tables), load_bytes(codes));
            }
            if !last_tables.is_empty() {
                // Missing tables are read as zeros.
                sums.add(load_prefix(last_tables), load_prefix(last_codes));
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
    low: [__m512i; 2],
    high: [__m512i; 2],
}

impl Sums {
    #[inline]
    #[avx512]
    fn add(&mut self, tables: __m512i, codes: __m512i) {
        let nibble = _mm512_set1_epi8(15);
        let high = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), nibble);
        add_entries(&mut self.low, _mm512_shuffle_epi8(tables, _mm512_and_si512(codes, nibble)));
        add_entries(&mut self.high, _mm512_shuffle_epi8(tables, high));
    }
}

#[inline]
#[avx512]
fn add_entries(sums: &mut [__m512i; 2], entries: __m512i) {
    sums[0] = _mm512_add_epi16(sums[0], entries);
    sums[1] = _mm512_add_epi16(sums[1], _mm512_srli_epi16::<8>(entries));
}

/// Adds the sums of sixteen vectors to `out`.
#[inline]
#[avx512]
fn add_sums(sums: [__m512i; 2], out: &mut [u32]) {
    let even = quarters(_mm512_sub_epi16(sums[0], _mm512_slli_epi16::<8>(sums[1])));
    let odd = quarters(sums[1]);
    let in_order = _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd));
    let mut wide = [0; 64];
    store_bytes(&mut wide, _mm512_cvtepu16_epi32(in_order));
    for (out, sum) in out.iter_mut().zip(wide.as_chunks::<4>().0) {
        *out = out.wrapping_add(u32::from_le_bytes(*sum));
    }
}

/// Adds the four quarters of a register.
#[inline]
#[avx512]
fn quarters(lanes: __m512i) -> __m128i {
    let halves = _mm256_add_epi16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
    _mm_add_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves))
}
