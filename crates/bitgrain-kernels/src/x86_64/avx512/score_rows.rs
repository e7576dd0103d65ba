//! Scores of encoded rows: 64 products per instruction (VNNI), up to eight planes per pass over a row.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::load_bytes;
use super::unpack::unpack64;
use crate::backend::for_width;
use crate::blocks::read_scale;
use crate::cast::as_bytes;
use crate::score_rows::{LINE, QueryLine, RowQuery, StartLine};
use crate::width::SCALE_LEN;
use crate::x86_64::prefetch::prefetch_row;

#[avx512]
pub(crate) fn score_rows(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    for_width!([2 3 4 5 6 7 8], query.layout.width.bits(), score_rows_of(query, bytes, rows, out));
}

#[avx512]
fn score_rows_of<const W: u32>(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    match query.planes {
        1 => planes::<W, 1>(query, bytes, rows, out),
        2 => planes::<W, 2>(query, bytes, rows, out),
        4 => planes::<W, 4>(query, bytes, rows, out),
        _ => planes::<W, 8>(query, bytes, rows, out),
    }
}

#[avx512]
fn planes<const W: u32, const P: usize>(query: &RowQuery<'_>, bytes: &[u8], rows: &[usize], out: &mut [f32]) {
    let step = 8 * W as usize;
    let (block, row_bytes) = (query.layout.block.get(), query.layout.row_bytes());
    let starts = query.starts.as_chunks::<P>().0;
    let scales = query.scales.as_chunks::<P>().0;
    for (i, &row) in rows.iter().enumerate() {
        prefetch_row(bytes, rows, i, row_bytes);
        let mut rest = &bytes[row..row + row_bytes];
        let mut lines = query.lines.as_chunks::<P>().0;
        let mut left = query.layout.columns;
        let mut totals = [_mm512_setzero_ps(); P];
        for (starts, scales) in starts.iter().zip(scales) {
            let len = left.min(block);
            left -= len;
            let scale = read_scale(rest);
            let (codes, after) = rest[SCALE_LEN..].split_at((len * W as usize).div_ceil(8));
            rest = after;
            let mut sums = [_mm512_setzero_si512(); P];
            for (sum, start) in sums.iter_mut().zip(starts) {
                *sum = load_start(start);
            }
            let (full, partial) = codes.split_at(len / LINE * step);
            let (block_lines, later) = lines.split_at(len.div_ceil(LINE));
            lines = later;
            for (codes, lines) in full.chunks_exact(step).zip(block_lines) {
                add_products::<W, P>(codes, lines, &mut sums);
            }
            if !partial.is_empty()
                && let Some(lines) = block_lines.last()
            {
                // Bytes after the slice are read as zero, and the query is zero there.
                add_products::<W, P>(partial, lines, &mut sums);
            }
            for ((total, sum), query_scale) in totals.iter_mut().zip(sums).zip(scales) {
                let scale = _mm512_set1_ps(scale * query_scale);
                // Not fused: the definition rounds the product first.
                *total = _mm512_add_ps(*total, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale));
            }
        }
        for (out, total) in out.chunks_exact_mut(rows.len()).zip(totals) {
            out[i] = sum_halves(total);
        }
    }
}

/// Adds the products of at most 64 codes with a line of each plane.
#[inline]
#[avx512]
fn add_products<const W: u32, const P: usize>(bytes: &[u8], lines: &[QueryLine; P], sums: &mut [__m512i; P]) {
    let mut codes = unpack64::<W>(bytes);
    if W == 8 {
        // VNNI multiplies unsigned by signed bytes. Codes of 8 bits are stored as signed bytes, and flipping the sign bit
        // adds the 128 that the start value subtracts; narrower codes are stored with their bias.
        codes = _mm512_xor_si512(codes, _mm512_set1_epi8(i8::MIN));
    }
    for (sum, line) in sums.iter_mut().zip(lines) {
        *sum = _mm512_dpbusd_epi32(*sum, codes, load_line(line));
    }
}

#[inline]
#[avx512]
fn load_line(line: &QueryLine) -> __m512i {
    load_bytes(as_bytes(&line.0).as_array().unwrap_or(&[0; LINE]))
}

#[inline]
#[avx512]
fn load_start(line: &StartLine) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_si512(line.0.as_ptr().cast()) }
}

/// Adds sixteen totals in halves: 8, 4, 2, 1.
#[inline]
#[avx512]
fn sum_halves(totals: __m512) -> f32 {
    let eight = _mm256_add_ps(_mm512_castps512_ps256(totals), _mm512_extractf32x8_ps::<1>(totals));
    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}
