//! Products of strips and tiles with VNNI: four products of bytes per lane and instruction.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_bytes, load_half_line, load_line, store_line};
use crate::product::{CodeLine, FloatLine, HalfLine, Strips, Tile, TileBlocks, strip_walk};
use crate::x86_64::prefetch::prefetch_strip;

#[avx512]
pub(crate) fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], out: &mut [FloatLine]) {
    strip_walk!(strips, tiles, out);
}

#[inline]
#[avx512]
fn halves<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    let mut totals = [_mm512_setzero_ps(); W];
    let tile = tile.first(lines.len());
    let scales = &scales[..lines.len()];
    for (i, lines) in lines.iter().enumerate() {
        let sums = block_sums(lines, &tile.codes[i], &tile.sums[i]);
        let weight_scales = _mm512_cvtph_ps(load_half_line(&scales[i]));
        for row in 0..W {
            let scales = _mm512_mul_ps(weight_scales, _mm512_set1_ps(tile.scales[i][row]));
            totals[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row]), scales, totals[row]);
        }
    }
    for (total, out) in totals.into_iter().zip(out) {
        store_line(out, total);
    }
}

#[inline]
#[avx512]
fn groups<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    mut tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    let mut totals = [_mm512_setzero_ps(); W];
    for (lines, weight_scales) in lines.chunks(each).zip(scales) {
        let blocks = tile.first(lines.len());
        let mut group = [_mm512_setzero_ps(); W];
        for (i, lines) in lines.iter().enumerate() {
            let sums = block_sums(lines, &blocks.codes[i], &blocks.sums[i]);
            for row in 0..W {
                let scale = _mm512_set1_ps(blocks.scales[i][row]);
                group[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[row]), scale, group[row]);
            }
        }
        let weight_scales = load_line(weight_scales);
        for row in 0..W {
            totals[row] = _mm512_fmadd_ps(group[row], weight_scales, totals[row]);
        }
        tile = tile.after(lines.len());
    }
    for (total, out) in totals.into_iter().zip(out) {
        store_line(out, total);
    }
}

/// Computes the sums of a block: one register per row of the tile, one lane per row of the strip.
#[inline]
#[avx512]
fn block_sums<const LINES: usize, const W: usize>(
    lines: &[CodeLine; LINES],
    codes: &[[i32; 8]; W],
    zeros: &[i32; W],
) -> [__m512i; W] {
    prefetch_strip(lines);
    let mut sums = [_mm512_setzero_si512(); W];
    for row in 0..W {
        // VNNI multiplies unsigned weights; starting at `zeros` removes the product of their offset with the
        // activations.
        sums[row] = _mm512_set1_epi32(zeros[row]);
    }
    for (i, line) in lines.iter().enumerate() {
        let line = load_bytes(&line.0);
        if LINES == 4 {
            let low = _mm512_set1_epi8(15);
            add_products(&mut sums, _mm512_and_si512(line, low), codes, i);
            add_products(&mut sums, _mm512_and_si512(_mm512_srli_epi16::<4>(line), low), codes, i + 4);
        } else {
            add_products(&mut sums, line, codes, i);
        }
    }
    sums
}

#[inline]
#[avx512]
fn add_products<const W: usize>(sums: &mut [__m512i; W], weights: __m512i, codes: &[[i32; 8]; W], four: usize) {
    for row in 0..W {
        sums[row] = _mm512_dpbusd_epi32(sums[row], weights, _mm512_set1_epi32(codes[row][four]));
    }
}
