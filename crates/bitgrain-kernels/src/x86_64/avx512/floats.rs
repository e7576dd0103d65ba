//! Products of f32 strips and tiles: two strips and a tile at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_f32, load_line, store_line};
use super::transpose::transpose;
use crate::product::{FloatLine, FloatTile};
use crate::scalar;
use crate::x86_64::prefetch::prefetch_line;

#[avx512]
pub(crate) fn multiply_floats(cols: usize, strips: &[FloatLine], tiles: &[FloatTile<'_>], out: &mut [FloatLine]) {
    let lines = tiles.iter().map(FloatTile::width).sum::<usize>();
    for (pair, out) in strips.chunks(2 * cols).zip(out.chunks_mut(2 * lines)) {
        let (strip, other) = pair.split_at(cols);
        let (mut out, mut other_out) = out.split_at_mut(lines);
        for tile in tiles {
            let (now, rest) = out.split_at_mut(tile.width());
            out = rest;
            let (other_now, rest) = other_out.split_at_mut(if other.is_empty() { 0 } else { tile.width() });
            other_out = rest;
            match tile.width() {
                1 => by_tile(strip, other, tile.cols_of::<1>(), now, other_now),
                4 => by_tile(strip, other, tile.cols_of::<4>(), now, other_now),
                _ => by_tile(strip, other, tile.cols_of::<8>(), now, other_now),
            }
        }
    }
}

#[inline]
#[avx512]
fn by_tile<const W: usize>(
    strip: &[FloatLine],
    other: &[FloatLine],
    tile: &[[f32; W]],
    out: &mut [FloatLine],
    other_out: &mut [FloatLine],
) {
    match (out.as_chunks_mut::<W>().0, other_out.as_chunks_mut::<W>().0) {
        ([out], [other_out]) => pair(strip, other, tile, out, other_out),
        ([out], _) => single(strip, tile, out),
        _ => {}
    }
}

#[inline]
#[avx512]
fn pair<const W: usize>(
    strip: &[FloatLine],
    other: &[FloatLine],
    tile: &[[f32; W]],
    out: &mut [FloatLine; W],
    other_out: &mut [FloatLine; W],
) {
    let mut sums = [[_mm512_setzero_ps(); 2]; W];
    for row in 0..W {
        // Sums start from `out`, so that a product split over several calls is one chain of additions.
        sums[row] = [load_line(&out[row]), load_line(&other_out[row])];
    }
    for ((line, other), values) in strip.iter().zip(other).zip(tile) {
        // With up to four rows, the few instructions per line are faster than memory.
        if W <= 4 {
            prefetch_line(line);
            prefetch_line(other);
        }
        let (line, other) = (load_line(line), load_line(other));
        for row in 0..W {
            let value = _mm512_set1_ps(values[row]);
            sums[row] = [_mm512_fmadd_ps(line, value, sums[row][0]), _mm512_fmadd_ps(other, value, sums[row][1])];
        }
    }
    for row in 0..W {
        store_line(&mut out[row], sums[row][0]);
        store_line(&mut other_out[row], sums[row][1]);
    }
}

#[inline]
#[avx512]
fn single<const W: usize>(strip: &[FloatLine], tile: &[[f32; W]], out: &mut [FloatLine; W]) {
    let mut sums = [_mm512_setzero_ps(); W];
    for row in 0..W {
        sums[row] = load_line(&out[row]);
    }
    for (line, values) in strip.iter().zip(tile) {
        let line = load_line(line);
        for row in 0..W {
            sums[row] = _mm512_fmadd_ps(line, _mm512_set1_ps(values[row]), sums[row]);
        }
    }
    for row in 0..W {
        store_line(&mut out[row], sums[row]);
    }
}

#[avx512]
pub(crate) fn pack_floats(values: &[f32], step: usize, rows: usize, out: &mut [FloatLine]) {
    let (squares, rest) = out.as_chunks_mut::<16>();
    let done = 16 * squares.len();
    for (square, out) in squares.iter_mut().enumerate() {
        let mut columns = [_mm512_setzero_ps(); 16];
        for (row, column) in columns[..rows].iter_mut().enumerate() {
            if let Some(sixteen) = values[row * step + 16 * square..].first_chunk() {
                *column = load_f32(sixteen);
            }
        }
        for (out, line) in out.iter_mut().zip(transpose(columns)) {
            store_line(out, line);
        }
    }
    scalar::pack_columns(values, step, rows, done, rest);
}
