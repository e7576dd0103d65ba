//! Scores of encoded rows: 32 products per instruction, up to eight planes per pass over a row.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::load_bytes;
use super::unpack::{REACH, factors, unpack64};
use crate::backend::for_width;
use crate::blocks::{bias_of, read_scale};
use crate::cast::as_bytes;
use crate::score_rows::{LINE, QueryLine, RowQuery};
use crate::width::SCALE_LEN;
use crate::x86_64::prefetch::prefetch_row;

#[avx2]
pub(crate) fn score_rows(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    for_width!([2 3 4 5 6 7 8], query.layout.width.bits(), score_rows_of(query, bytes, rows, out));
}

#[avx2]
fn score_rows_of<const W: u32>(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    match query.planes {
        1 => planes::<W, 1>(query, bytes, rows, out),
        2 => planes::<W, 2>(query, bytes, rows, out),
        4 => planes::<W, 4>(query, bytes, rows, out),
        _ => planes::<W, 8>(query, bytes, rows, out),
    }
}

#[avx2]
fn planes<const W: u32, const P: usize>(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    let (block, row_bytes) = (query.layout.block.get(), query.layout.row_bytes());
    let scales = query.scales.as_chunks::<P>().0;
    let factors = factors::<W>();
    for (i, &row) in rows.iter().enumerate() {
        prefetch_row(bytes, rows, i, row_bytes);
        // The loads of 64 codes reach beyond their bytes, so the slice continues to the end of the rows.
        let mut rest = &bytes[row..];
        let mut lines = query.lines.as_chunks::<P>().0;
        let mut left = query.layout.columns;
        let mut totals = [[_mm256_setzero_ps(); 2]; P];
        for scales in scales {
            let len = left.min(block);
            left -= len;
            let scale = read_scale(rest);
            let mut codes = &rest[SCALE_LEN..];
            let mut sums = [[_mm256_setzero_si256(); 2]; P];
            let (block_lines, later) = lines.split_at(len.div_ceil(LINE));
            lines = later;
            let mut missing = len;
            for lines in block_lines {
                let count = missing.min(LINE);
                missing -= count;
                let used = (count * W as usize).div_ceil(8);
                match codes.first_chunk::<REACH>() {
                    // Codes after the last one are multiplied with zeros of the query.
                    Some(reach) => add_products::<W, P>(reach, factors, lines, &mut sums),
                    None => {
                        let mut padded = [0; REACH];
                        padded[..used].copy_from_slice(&codes[..used]);
                        add_products::<W, P>(&padded, factors, lines, &mut sums);
                    }
                }
                codes = &codes[used..];
            }
            rest = codes;
            for ((totals, sums), query_scale) in totals.iter_mut().zip(sums).zip(scales) {
                let scale = _mm256_set1_ps(scale * query_scale);
                for (total, sum) in totals.iter_mut().zip(sums) {
                    // Not fused: the definition rounds the product first.
                    *total = _mm256_add_ps(*total, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale));
                }
            }
        }
        for (out, totals) in out.chunks_exact_mut(rows.len()).zip(totals) {
            out[i] = sum_eight(_mm256_add_ps(totals[0], totals[1]));
        }
    }
}

/// Adds the products of 64 codes with a line of each plane. The codes are signed here, so the start values of the
/// planes are not needed.
#[inline]
#[avx2]
fn add_products<const W: u32, const P: usize>(
    bytes: &[u8; REACH],
    factors: __m256i,
    lines: &[QueryLine; P],
    sums: &mut [[__m256i; 2]; P],
) {
    let ones = _mm256_set1_epi16(1);
    let stored = unpack64::<W>(bytes, factors);
    for (half, stored) in stored.into_iter().enumerate() {
        let codes = _mm256_sub_epi8(stored, _mm256_set1_epi8(bias_of(W).cast_signed()));
        // The instruction multiplies unsigned with signed bytes: the sign of the code moves to the query. Two products
        // are at most 2 * 128 * 127, so their 16-bit sum is exact.
        let sizes = _mm256_abs_epi8(codes);
        for (sums, line) in sums.iter_mut().zip(lines) {
            let query = load_bytes(&as_bytes(&line.0).as_chunks::<32>().0[half]);
            let pairs = _mm256_maddubs_epi16(sizes, _mm256_sign_epi8(query, codes));
            sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(pairs, ones));
        }
    }
}

/// Adds eight totals in halves: 4, 2, 1.
#[inline]
#[avx2]
fn sum_eight(eight: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}
