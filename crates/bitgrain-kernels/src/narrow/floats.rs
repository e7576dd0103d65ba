//! Products of f32 strips and tiles: half a strip with at most four rows of a tile at a time.

use crate::narrow::register::Narrow;
use crate::product::{FloatLine, FloatTile};
use crate::scalar;

pub(crate) fn multiply_floats(
    isa: impl Narrow,
    cols: usize,
    strips: &[FloatLine],
    tiles: &[FloatTile<'_>],
    out: &mut [FloatLine],
) {
    let mut out = out;
    for strip in strips.chunks_exact(cols) {
        for tile in tiles {
            let (now, rest) = out.split_at_mut(tile.width());
            out = rest;
            for half in 0..2 {
                match tile.width() {
                    1 => some_rows::<1, 1>(isa, strip, tile.cols_of(), half, 0, now),
                    4 => some_rows::<4, 4>(isa, strip, tile.cols_of(), half, 0, now),
                    _ => {
                        some_rows::<8, 4>(isa, strip, tile.cols_of(), half, 0, now);
                        some_rows::<8, 4>(isa, strip, tile.cols_of(), half, 4, now);
                    }
                }
            }
        }
    }
}

/// Multiplies `N` rows of a tile of `W` rows with half of a strip.
fn some_rows<const W: usize, const N: usize>(
    isa: impl Narrow,
    strip: &[FloatLine],
    tile: &[[f32; W]],
    half: usize,
    first: usize,
    out: &mut [FloatLine],
) {
    let Some(out) = out[first..].first_chunk_mut::<N>() else { return };
    let mut sums = [[isa.splat(0.0); 2]; N];
    for row in 0..N {
        let parts = out[row].0.as_chunks::<4>().0;
        // Sums start from `out`, so that a product split over several calls is one chain of additions.
        sums[row] = [isa.floats(&parts[2 * half]), isa.floats(&parts[2 * half + 1])];
    }
    for (line, values) in strip.iter().zip(tile) {
        let parts = line.0.as_chunks::<4>().0;
        let (front, back) = (isa.floats(&parts[2 * half]), isa.floats(&parts[2 * half + 1]));
        for row in 0..N {
            let value = isa.splat(values[first + row]);
            sums[row] = [isa.fused(front, value, sums[row][0]), isa.fused(back, value, sums[row][1])];
        }
    }
    for row in 0..N {
        let parts = out[row].0.as_chunks_mut::<4>().0;
        isa.put_floats(sums[row][0], &mut parts[2 * half]);
        isa.put_floats(sums[row][1], &mut parts[2 * half + 1]);
    }
}

pub(crate) fn pack_floats(isa: impl Narrow, values: &[f32], step: usize, rows: usize, out: &mut [FloatLine]) {
    let (squares, rest) = out.as_chunks_mut::<4>();
    let done = 4 * squares.len();
    for (square, out) in squares.iter_mut().enumerate() {
        for quarter in 0..4 {
            let mut columns = [isa.splat(0.0); 4];
            for (row, column) in (4 * quarter..rows).zip(&mut columns) {
                if let Some(four) = values[row * step + 4 * square..].first_chunk() {
                    *column = isa.floats(four);
                }
            }
            for (out, line) in out.iter_mut().zip(isa.transpose(columns)) {
                isa.put_floats(line, &mut out.0.as_chunks_mut().0[quarter]);
            }
        }
    }
    scalar::pack_columns(values, step, rows, done, rest);
}
