//! Products of strips and tiles: half a strip with at most four rows of a tile at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_bytes, load_eight_words, load_f32, store_f32};
use crate::product::{CodeLine, FloatLine, HalfLine, Strips, Tile, TileBlocks, strip_walk};
use crate::x86_64::prefetch::prefetch_strip;

#[avx2]
pub(crate) fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], out: &mut [FloatLine]) {
    strip_walk!(strips, tiles, out);
}

/// Calls `$part` for both halves of the strip and every four rows of the tile, or its only row.
macro_rules! parts {
    ($part:ident, $w:ident, ($($argument:expr),*), $out:ident) => {
        for half in 0..2 {
            if $w == 1 {
                $part::<_, _, 1>($($argument,)* half, 0, $out);
            } else {
                for first in (0..$w).step_by(4) {
                    $part::<_, _, 4>($($argument,)* half, first, $out);
                }
            }
        }
    };
}

#[inline]
#[avx2]
fn halves<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    parts!(part_halves, W, (lines, scales, tile), out);
}

#[inline]
#[avx2]
fn part_halves<const LINES: usize, const W: usize, const N: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    half: usize,
    first: usize,
    out: &mut [FloatLine; W],
) {
    let mut totals = [_mm256_setzero_ps(); N];
    let tile = tile.first(lines.len());
    let scales = &scales[..lines.len()];
    for (i, lines) in lines.iter().enumerate() {
        let sums = block_sums::<LINES, W, N>(lines, &tile.codes[i], &tile.sums[i], half, first);
        let weight_scales = _mm256_cvtph_ps(load_eight_words(&scales[i].0.as_chunks().0[half]));
        for row in 0..N {
            let scales = _mm256_mul_ps(weight_scales, _mm256_set1_ps(tile.scales[i][first + row]));
            totals[row] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[row]), scales, totals[row]);
        }
    }
    store(totals, half, first, out);
}

#[inline]
#[avx2]
fn groups<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    parts!(part_groups, W, (lines, scales, each, tile), out);
}

#[inline]
#[avx2]
fn part_groups<const LINES: usize, const W: usize, const N: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    mut tile: TileBlocks<'_, W>,
    half: usize,
    first: usize,
    out: &mut [FloatLine; W],
) {
    let mut totals = [_mm256_setzero_ps(); N];
    for (lines, weight_scales) in lines.chunks(each).zip(scales) {
        let blocks = tile.first(lines.len());
        let mut group = [_mm256_setzero_ps(); N];
        for (i, lines) in lines.iter().enumerate() {
            let sums = block_sums::<LINES, W, N>(lines, &blocks.codes[i], &blocks.sums[i], half, first);
            for row in 0..N {
                let scale = _mm256_set1_ps(blocks.scales[i][first + row]);
                group[row] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[row]), scale, group[row]);
            }
        }
        let weight_scales = load_f32(&weight_scales.0.as_chunks().0[half]);
        for row in 0..N {
            totals[row] = _mm256_fmadd_ps(group[row], weight_scales, totals[row]);
        }
        tile = tile.after(lines.len());
    }
    store(totals, half, first, out);
}

/// Computes the sums of a block: one register per row of the tile, one lane per row of half a strip.
#[inline]
#[avx2]
fn block_sums<const LINES: usize, const W: usize, const N: usize>(
    lines: &[CodeLine; LINES],
    codes: &[[i32; 8]; W],
    zeros: &[i32; W],
    half: usize,
    first: usize,
) -> [__m256i; N] {
    // Both halves and all rows read the same lines; one prefetch is enough.
    if half == 0 && first == 0 {
        prefetch_strip(lines);
    }
    let (ones, low) = (_mm256_set1_epi16(1), _mm256_set1_epi8(15));
    let mut sums = [_mm256_setzero_si256(); N];
    for (i, line) in lines.iter().enumerate() {
        let line = load_bytes(&line.0.as_chunks().0[half]);
        if LINES == 4 {
            // A lane adds sixteen products of at most 15 * 127, which fit 16 bits, so they are widened once per block.
            let near = _mm256_and_si256(line, low);
            let far = _mm256_and_si256(_mm256_srli_epi16::<4>(line), low);
            for row in 0..N {
                let near = _mm256_maddubs_epi16(near, _mm256_set1_epi32(codes[first + row][i]));
                let far = _mm256_maddubs_epi16(far, _mm256_set1_epi32(codes[first + row][i + 4]));
                sums[row] = _mm256_add_epi16(sums[row], _mm256_add_epi16(near, far));
            }
        } else {
            // `maddubs` needs one unsigned factor, so the sign of the weight is moved to the activation. Two products
            // of at most 128 * 127 fit 16 bits.
            let weights = _mm256_xor_si256(line, _mm256_set1_epi8(i8::MIN));
            let magnitudes = _mm256_abs_epi8(weights);
            for row in 0..N {
                let signed = _mm256_sign_epi8(_mm256_set1_epi32(codes[first + row][i]), weights);
                let products = _mm256_madd_epi16(_mm256_maddubs_epi16(magnitudes, signed), ones);
                sums[row] = _mm256_add_epi32(sums[row], products);
            }
        }
    }
    if LINES == 4 {
        for row in 0..N {
            // Weights are stored with an offset; `zeros` removes its product with the sum of the activations. The 8-bit
            // path does not need it, because it flips the top bit to get signed weights.
            sums[row] = _mm256_add_epi32(_mm256_madd_epi16(sums[row], ones), _mm256_set1_epi32(zeros[first + row]));
        }
    }
    sums
}

#[inline]
#[avx2]
fn store<const W: usize, const N: usize>(totals: [__m256; N], half: usize, first: usize, out: &mut [FloatLine; W]) {
    for (total, out) in totals.into_iter().zip(&mut out[first..]) {
        store_f32(&mut out.0.as_chunks_mut().0[half], total);
    }
}
