//! Products of f32 strips and tiles: the definition.

use super::fused::mul_add;
use crate::product::{FloatLine, FloatTile};

pub(crate) fn multiply_floats(cols: usize, strips: &[FloatLine], tiles: &[FloatTile<'_>], out: &mut [FloatLine]) {
    let mut out = out.iter_mut();
    for strip in strips.chunks_exact(cols) {
        for tile in tiles {
            match tile.width() {
                1 => by_tile::<1>(strip, tile, &mut out),
                4 => by_tile::<4>(strip, tile, &mut out),
                _ => by_tile::<8>(strip, tile, &mut out),
            }
        }
    }
}

fn by_tile<'a, const W: usize>(
    strip: &[FloatLine],
    tile: &FloatTile<'_>,
    out: &mut impl Iterator<Item = &'a mut FloatLine>,
) {
    for (row, out) in (0..W).zip(out) {
        for (line, values) in strip.iter().zip(tile.cols_of::<W>()) {
            for (sum, weight) in out.0.iter_mut().zip(line.0) {
                *sum = mul_add(weight, values[row], *sum);
            }
        }
    }
}

pub(crate) fn pack_floats(values: &[f32], step: usize, rows: usize, out: &mut [FloatLine]) {
    pack_columns(values, step, rows, 0, out);
}

/// Packs the columns from `first` on.
pub(crate) fn pack_columns(values: &[f32], step: usize, rows: usize, first: usize, out: &mut [FloatLine]) {
    for (col, out) in out.iter_mut().enumerate() {
        out.0 = [0.0; 16];
        for (row, out) in out.0[..rows].iter_mut().enumerate() {
            *out = values[row * step + first + col];
        }
    }
}
