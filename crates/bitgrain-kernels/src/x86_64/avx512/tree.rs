//! Leaf values, looked up in registers, 64 rows at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_bytes, store_bytes};
use crate::scalar;

#[avx512]
pub(crate) fn add_leaf_values(values: &[f64], leaves: &[u8], sums: &mut [f64]) {
    let (chunks, rest) = leaves.as_chunks::<64>();
    if chunks.is_empty() {
        return scalar::add_leaf_values(values, leaves, sums);
    }
    // A lookup uses the low six bits of a leaf: more leaves, or leaves beyond the values, need the scalar definition.
    let mut table = [0.0; 64];
    match table.get_mut(..values.len()) {
        Some(table) => table.copy_from_slice(values),
        None => return scalar::add_leaf_values(values, leaves, sums),
    }
    let planes = planes(&table);
    let (whole, sums_rest) = sums.split_at_mut(chunks.len() * 64);
    for (leaves, sums) in chunks.iter().zip(whole.as_chunks_mut::<64>().0) {
        let leaves = load_bytes(leaves);
        if _mm512_cmpgt_epu8_mask(leaves, _mm512_set1_epi8(63)) != 0 {
            scalar::add_leaf_values(values, &lanes(leaves), sums);
            continue;
        }
        let sums = sums.as_chunks_mut::<8>().0;
        for (sum, value) in sums.iter_mut().zip(lookup(&planes, leaves)) {
            store_f64(sum, _mm512_add_pd(load_f64(sum), value));
        }
    }
    scalar::add_leaf_values(values, rest, sums_rest);
}

/// Splits values into planes: byte `i` of every value in register `i`.
#[inline]
#[avx512]
fn planes(values: &[f64; 64]) -> [__m512i; 8] {
    // Moves byte `i` of the eight values of a register to its eighth `i`.
    const GATHERED: [u8; 64] = {
        let mut order = [0; 64];
        let mut at = 0_u8;
        while at < 64 {
            order[at as usize] = at % 8 * 8 + at / 8;
            at += 1;
        }
        order
    };
    let order = load_bytes(&GATHERED);
    let values = values.as_chunks::<8>().0;
    let parts: [__m512i; 8] =
        core::array::from_fn(|i| _mm512_permutexvar_epi8(order, _mm512_castpd_si512(load_f64(&values[i]))));
    // Then transposes eighths and registers.
    let pairs: [__m512i; 8] = core::array::from_fn(|i| {
        let (a, b) = (parts[i / 2 * 2], parts[i / 2 * 2 + 1]);
        if i % 2 == 0 { _mm512_unpacklo_epi64(a, b) } else { _mm512_unpackhi_epi64(a, b) }
    });
    core::array::from_fn(|i| {
        let (odd, quarter) = (i % 2, i / 2);
        let fours = |a: __m512i, b: __m512i| match quarter {
            0 => _mm512_shuffle_i64x2::<0b00_00_00_00>(a, b),
            1 => _mm512_shuffle_i64x2::<0b01_01_01_01>(a, b),
            2 => _mm512_shuffle_i64x2::<0b10_10_10_10>(a, b),
            _ => _mm512_shuffle_i64x2::<0b11_11_11_11>(a, b),
        };
        let (low, high) = (fours(pairs[odd], pairs[odd + 2]), fours(pairs[odd + 4], pairs[odd + 6]));
        _mm512_shuffle_i64x2::<0b10_00_10_00>(low, high)
    })
}

/// Looks up the value of each leaf below 64, in the order of the leaves.
#[inline]
#[avx512]
fn lookup(planes: &[__m512i; 8], leaves: __m512i) -> [__m512d; 8] {
    // Initial order of the rows, so that the three rounds below, which stay within quarters, leave them sorted.
    const ORDER: [u8; 64] = {
        let mut order = [0; 64];
        let mut at = 0_u8;
        while at < 64 {
            let (quarter, pair, odd) = (at / 16, at % 16 / 2, at % 2);
            order[at as usize] = 8 * pair + 2 * quarter + odd;
            at += 1;
        }
        order
    };
    let leaves = _mm512_permutexvar_epi8(load_bytes(&ORDER), leaves);
    let bytes: [__m512i; 8] = core::array::from_fn(|i| _mm512_permutexvar_epi8(leaves, planes[i]));
    let low16: [__m512i; 4] = core::array::from_fn(|i| _mm512_unpacklo_epi8(bytes[2 * i], bytes[2 * i + 1]));
    let high16: [__m512i; 4] = core::array::from_fn(|i| _mm512_unpackhi_epi8(bytes[2 * i], bytes[2 * i + 1]));
    // [rows 0-3, rows 4-7, rows 8-11, rows 12-15] of each quarter, first and second half of the value.
    let words = |half: usize| -> [__m512i; 4] {
        let (a, b) = (2 * half, 2 * half + 1);
        [
            _mm512_unpacklo_epi16(low16[a], low16[b]),
            _mm512_unpackhi_epi16(low16[a], low16[b]),
            _mm512_unpacklo_epi16(high16[a], high16[b]),
            _mm512_unpackhi_epi16(high16[a], high16[b]),
        ]
    };
    let (low32, high32) = (words(0), words(1));
    core::array::from_fn(|i| {
        let (low, high) = (low32[i / 2], high32[i / 2]);
        let value = if i % 2 == 0 { _mm512_unpacklo_epi32(low, high) } else { _mm512_unpackhi_epi32(low, high) };
        _mm512_castsi512_pd(value)
    })
}

#[inline]
#[avx512]
fn lanes(bytes: __m512i) -> [u8; 64] {
    let mut lanes = [0; 64];
    store_bytes(&mut lanes, bytes);
    lanes
}

#[inline]
#[avx512]
fn load_f64(values: &[f64; 8]) -> __m512d {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_pd(values.as_ptr()) }
}

#[inline]
#[avx512]
fn store_f64(out: &mut [f64; 8], values: __m512d) {
    // SAFETY: the reference covers 64 writable bytes; `storeu` needs no alignment.
    unsafe { _mm512_storeu_pd(out.as_mut_ptr(), values) }
}
