//! Products of f32 strips and tiles: one strip with at most four rows of a tile at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_f32, store_f32};
use super::transpose::transpose;
use crate::product::{FloatLine, FloatTile};
use crate::scalar;
use crate::x86_64::prefetch::prefetch_line;

#[avx2]
pub(crate) fn multiply_floats(cols: usize, strips: &[FloatLine], tiles: &[FloatTile<'_>], out: &mut [FloatLine]) {
    let mut out = out;
    for strip in strips.chunks_exact(cols) {
        for tile in tiles {
            let (now, rest) = out.split_at_mut(tile.width());
            out = rest;
            match tile.width() {
                1 => some_rows::<1, 1>(strip, tile.cols_of(), 0, now),
                4 => some_rows::<4, 4>(strip, tile.cols_of(), 0, now),
                _ => {
                    some_rows::<8, 4>(strip, tile.cols_of(), 0, now);
                    some_rows::<8, 4>(strip, tile.cols_of(), 4, now);
                }
            }
        }
    }
}

/// Multiplies `N` rows of a tile of `W` rows.
#[inline]
#[avx2]
fn some_rows<const W: usize, const N: usize>(
    strip: &[FloatLine],
    tile: &[[f32; W]],
    first: usize,
    out: &mut [FloatLine],
) {
    let Some(out) = out[first..].first_chunk_mut::<N>() else { return };
    let mut sums = [[_mm256_setzero_ps(); 2]; N];
    for row in 0..N {
        let (front, back) = halves(&out[row]);
        // Sums start from `out`, so that a product split over several calls is one chain of additions.
        sums[row] = [load_f32(front), load_f32(back)];
    }
    for (line, values) in strip.iter().zip(tile) {
        // With up to four rows, the few instructions per line are faster than memory.
        if W <= 4 {
            prefetch_line(line);
        }
        let (front, back) = halves(line);
        let (front, back) = (load_f32(front), load_f32(back));
        for row in 0..N {
            let value = _mm256_set1_ps(values[first + row]);
            sums[row] = [_mm256_fmadd_ps(front, value, sums[row][0]), _mm256_fmadd_ps(back, value, sums[row][1])];
        }
    }
    for row in 0..N {
        for (out, sum) in out[row].0.as_chunks_mut().0.iter_mut().zip(sums[row]) {
            store_f32(out, sum);
        }
    }
}

#[inline]
fn halves(line: &FloatLine) -> (&[f32; 8], &[f32; 8]) {
    let [front, back] = line.0.as_chunks().0 else { unreachable!("sixteen floats are two groups of eight") };
    (front, back)
}

#[avx2]
pub(crate) fn pack_floats(values: &[f32], step: usize, rows: usize, out: &mut [FloatLine]) {
    let (squares, rest) = out.as_chunks_mut::<8>();
    let done = 8 * squares.len();
    for (square, out) in squares.iter_mut().enumerate() {
        for half in 0..2 {
            let mut columns = [_mm256_setzero_ps(); 8];
            for (row, column) in (8 * half..rows).zip(&mut columns) {
                if let Some(eight) = values[row * step + 8 * square..].first_chunk() {
                    *column = load_f32(eight);
                }
            }
            for (out, line) in out.iter_mut().zip(transpose(columns)) {
                store_f32(&mut out.0.as_chunks_mut().0[half], line);
            }
        }
    }
    scalar::pack_columns(values, step, rows, done, rest);
}
