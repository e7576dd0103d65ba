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
        1 => groups::<W, 1, 8>(query, bytes, rows, out),
        2 => groups::<W, 2, 4>(query, bytes, rows, out),
        4 => groups::<W, 4, 2>(query, bytes, rows, out),
        _ => groups::<W, 8, 1>(query, bytes, rows, out),
    }
}

/// Scores as many rows at once as have eight sums together. Their query lines are read once, and eight totals are added up
/// at once.
#[avx512]
fn groups<const W: u32, const P: usize, const R: usize>(
    query: &RowQuery<'_>,
    bytes: &[u8],
    rows: &[usize],
    out: &mut [f32],
) {
    const { assert!(P * R == 8) };
    let layout = &query.layout;
    let (block, row_bytes) = (layout.block.get(), layout.row_bytes());
    if !layout.columns.is_multiple_of(block) || !block.is_multiple_of(LINE) {
        return planes::<W, P>(query, bytes, rows, 0, out);
    }
    let groups = rows.as_chunks::<R>().0;
    for (g, group) in groups.iter().enumerate() {
        for i in g * R..(g + 1) * R {
            prefetch_row(bytes, rows, i, row_bytes);
        }
        let mut slices = [bytes; R];
        for (slice, &row) in slices.iter_mut().zip(group) {
            *slice = &bytes[row..row + row_bytes];
        }
        let totals = whole_blocks::<W, P, R>(query, slices);
        for (t, total) in totals.into_iter().enumerate() {
            out[t % P * rows.len() + g * R + t / P] = total;
        }
    }
    planes::<W, P>(query, bytes, rows, groups.len() * R, out);
}

/// Returns the scores of `R` rows that consist of whole lines, row by row.
#[inline]
#[avx512]
fn whole_blocks<const W: u32, const P: usize, const R: usize>(query: &RowQuery<'_>, rows: [&[u8]; R]) -> [f32; 8] {
    let step = 8 * W as usize;
    let lines_per_block = query.layout.block.get() / LINE;
    let block_bytes = SCALE_LEN + lines_per_block * step;
    let starts = query.starts.as_chunks::<P>().0;
    let scales = query.scales.as_chunks::<P>().0;
    let lines = query.lines.as_chunks::<P>().0.chunks_exact(lines_per_block);
    let mut totals = [[_mm512_setzero_ps(); P]; R];
    // Loops instead of `map` and `array::from_fn`: a closure with vector instructions is not inlined into these.
    for (b, ((starts, scales), lines)) in starts.iter().zip(scales).zip(lines).enumerate() {
        let mut blocks = rows;
        for block in &mut blocks {
            *block = &block[b * block_bytes..][..block_bytes];
        }
        let mut sums = [[_mm512_setzero_si512(); P]; R];
        for sums in &mut sums {
            for (sum, start) in sums.iter_mut().zip(starts) {
                *sum = load_start(start);
            }
        }
        for (l, line) in lines.iter().enumerate() {
            let at = SCALE_LEN + l * step;
            let mut query = [_mm512_setzero_si512(); P];
            for (query, line) in query.iter_mut().zip(line) {
                *query = load_line(line);
            }
            for (sums, block) in sums.iter_mut().zip(blocks) {
                let codes = unsigned_codes::<W>(&block[at..at + step]);
                for (sum, query) in sums.iter_mut().zip(query) {
                    *sum = _mm512_dpbusd_epi32(*sum, codes, query);
                }
            }
        }
        for ((totals, sums), block) in totals.iter_mut().zip(sums).zip(blocks) {
            let scale = read_scale(block);
            for ((total, sum), query_scale) in totals.iter_mut().zip(sums).zip(scales) {
                // Not fused: the definition rounds the product first.
                let scale = _mm512_set1_ps(scale * query_scale);
                *total = _mm512_add_ps(*total, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale));
            }
        }
    }
    sum_eight_halves(totals.as_flattened().as_array().unwrap_or(&[_mm512_setzero_ps(); 8]))
}

/// Scores the rows from `first` on one by one.
#[avx512]
fn planes<const W: u32, const P: usize>(
    query: &RowQuery<'_>,
    bytes: &[u8],
    rows: &[usize],
    first: usize,
    out: &mut [f32],
) {
    let step = 8 * W as usize;
    let (block, row_bytes) = (query.layout.block.get(), query.layout.row_bytes());
    let starts = query.starts.as_chunks::<P>().0;
    let scales = query.scales.as_chunks::<P>().0;
    for (i, &row) in rows.iter().enumerate().skip(first) {
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
    let codes = unsigned_codes::<W>(bytes);
    for (sum, line) in sums.iter_mut().zip(lines) {
        *sum = _mm512_dpbusd_epi32(*sum, codes, load_line(line));
    }
}

/// Unpacks at most 64 codes with a bias that makes them unsigned.
#[inline]
#[avx512]
fn unsigned_codes<const W: u32>(bytes: &[u8]) -> __m512i {
    let codes = unpack64::<W>(bytes);
    // VNNI multiplies unsigned by signed bytes. Codes of 8 bits are stored as signed bytes, and flipping the sign bit adds the
    // 128 that the start value subtracts; narrower codes are stored with their bias.
    if W == 8 { _mm512_xor_si512(codes, _mm512_set1_epi8(i8::MIN)) } else { codes }
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

/// Adds sixteen lanes of eight registers as [`sum_halves`] does, with half as many instructions.
#[inline]
#[avx512]
fn sum_eight_halves(totals: &[__m512; 8]) -> [f32; 8] {
    let mut eights = [_mm256_setzero_ps(); 8];
    for (eight, &total) in eights.iter_mut().zip(totals) {
        *eight = _mm256_add_ps(_mm512_castps512_ps256(total), _mm512_extractf32x8_ps::<1>(total));
    }
    // Four sums of register `2 * i`, then of `2 * i + 1`.
    let mut fours = [_mm256_setzero_ps(); 4];
    for (four, &[a, b]) in fours.iter_mut().zip(eights.as_chunks().0) {
        *four = _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b));
    }
    // Two sums each of registers 0, 2, 1, 3, and of 4, 6, 5, 7.
    let mut twos = [_mm256_setzero_ps(); 2];
    for (two, &[a, b]) in twos.iter_mut().zip(fours.as_chunks().0) {
        let (a, b) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
        *two = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
    }
    let even = _mm256_shuffle_ps::<0b10_00_10_00>(twos[0], twos[1]);
    let odd = _mm256_shuffle_ps::<0b11_01_11_01>(twos[0], twos[1]);
    let ones = _mm256_add_ps(even, odd);
    let mut sums = [0.0; 8];
    // SAFETY: `sums` covers 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_ps(sums.as_mut_ptr(), ones) };
    let [a, c, e, g, b, d, f, h] = sums;
    [a, b, c, d, e, f, g, h]
}
