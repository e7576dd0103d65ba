//! Products of strips and tiles: a quarter of a strip with at most four rows of a tile at a time.

use crate::narrow::register::{ByteProducts, Dwords, Floats, Narrow};
use crate::product::{CodeLine, FloatLine, HalfLine, Strips, Tile, TileBlocks, strip_walk};

/// Registers, and the instructions for products of bytes.
#[derive(Clone, Copy)]
struct Units<I, P> {
    isa: I,
    products: P,
}

/// A block of a strip and of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a, const LINES: usize, const W: usize> {
    pub(crate) lines: &'a [CodeLine; LINES],
    pub(crate) codes: &'a [[i32; 8]; W],
    pub(crate) zeros: &'a [i32; W],
}

#[inline(always)]
pub(crate) fn multiply_strips<I: Narrow, P: ByteProducts<I>>(
    isa: I,
    products: P,
    strips: Strips<'_>,
    tiles: &[Tile<'_>],
    out: &mut [FloatLine],
) {
    let units = Units { isa, products };
    strip_walk!(strips, tiles, out, units);
}

/// Calls `$part` for each quarter of the strip and every four rows of the tile, or its only row.
macro_rules! parts {
    ($part:ident, $w:ident, ($($argument:expr),*), $out:ident) => {
        for quarter in 0..4 {
            if $w == 1 {
                $part::<_, _, 1, _, _>($($argument,)* quarter, 0, $out);
            } else {
                for first in (0..$w).step_by(4) {
                    $part::<_, _, 4, _, _>($($argument,)* quarter, first, $out);
                }
            }
        }
    };
}

#[inline(always)]
fn halves<const LINES: usize, const W: usize, I: Narrow, P: ByteProducts<I>>(
    units: Units<I, P>,
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    parts!(part_halves, W, (units, lines, scales, tile), out);
}

#[inline(always)]
fn part_halves<const LINES: usize, const W: usize, const N: usize, I: Narrow, P: ByteProducts<I>>(
    units: Units<I, P>,
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    quarter: usize,
    first: usize,
    out: &mut [FloatLine; W],
) {
    let isa = units.isa;
    let mut totals = [isa.splat(0.0); N];
    let tile = tile.first(lines.len());
    let scales = &scales[..lines.len()];
    for (i, lines) in lines.iter().enumerate() {
        let block = Block { lines, codes: &tile.codes[i], zeros: &tile.sums[i] };
        let sums: [_; N] = units.products.block_sums(isa, block, quarter, first);
        let weight_scales = isa.halves(&scales[i].0.as_chunks().0[quarter]);
        for row in 0..N {
            let scales = weight_scales * isa.splat(tile.scales[i][first + row]);
            totals[row] = isa.fused(isa.to_floats(sums[row]), scales, totals[row]);
        }
    }
    store(isa, totals, quarter, first, out);
}

#[inline(always)]
fn groups<const LINES: usize, const W: usize, I: Narrow, P: ByteProducts<I>>(
    units: Units<I, P>,
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    parts!(part_groups, W, (units, lines, scales, each, tile), out);
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the operands of a product, and the part of them to multiply")]
fn part_groups<const LINES: usize, const W: usize, const N: usize, I: Narrow, P: ByteProducts<I>>(
    units: Units<I, P>,
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    mut tile: TileBlocks<'_, W>,
    quarter: usize,
    first: usize,
    out: &mut [FloatLine; W],
) {
    let isa = units.isa;
    let mut totals = [isa.splat(0.0); N];
    for (lines, weight_scales) in lines.chunks(each).zip(scales) {
        let blocks = tile.first(lines.len());
        let mut group = [isa.splat(0.0); N];
        for (i, lines) in lines.iter().enumerate() {
            let block = Block { lines, codes: &blocks.codes[i], zeros: &blocks.sums[i] };
            let sums: [_; N] = units.products.block_sums(isa, block, quarter, first);
            for row in 0..N {
                let scale = isa.splat(blocks.scales[i][first + row]);
                group[row] = isa.fused(isa.to_floats(sums[row]), scale, group[row]);
            }
        }
        let weight_scales = isa.floats(&weight_scales.0.as_chunks().0[quarter]);
        for row in 0..N {
            totals[row] = isa.fused(group[row], weight_scales, totals[row]);
        }
        tile = tile.after(lines.len());
    }
    store(isa, totals, quarter, first, out);
}

/// Implements [`ByteProducts::block_sums`] with products of four bytes.
#[inline(always)]
pub(crate) fn block_sums<const LINES: usize, const W: usize, const N: usize, I: Narrow, P: ByteProducts<I>>(
    isa: I,
    products: P,
    block: Block<'_, LINES, W>,
    quarter: usize,
    first: usize,
) -> [Dwords<I>; N] {
    let Block { lines, codes, zeros } = block;
    let mut sums = [products.zero(); N];
    for (i, line) in lines.iter().enumerate() {
        let line = isa.codes8(&line.0.as_chunks().0[quarter]);
        if LINES == 4 {
            let (near, far) = (isa.and_bits(line, isa.code8(15)), isa.shr8(line, 4));
            for row in 0..N {
                sums[row] = products.add_four(sums[row], near, codes[first + row][i]);
                sums[row] = products.add_four(sums[row], far, codes[first + row][i + 4]);
            }
        } else {
            // Flipping the top bit makes the stored code the signed weight.
            let weights = isa.xor_bits(line, isa.code8(0x80));
            for row in 0..N {
                sums[row] = products.add_four(sums[row], weights, codes[first + row][i]);
            }
        }
    }
    let mut totals = [isa.integer(0); N];
    for row in 0..N {
        totals[row] = products.sums(sums[row]);
        if LINES == 4 {
            // Weights are stored with an offset; `zeros` removes its product with the sum of the activations.
            totals[row] = totals[row] + isa.integer(zeros[first + row].cast_unsigned());
        }
    }
    totals
}

#[inline(always)]
fn store<const W: usize, const N: usize, I: Narrow>(
    isa: I,
    totals: [Floats<I>; N],
    quarter: usize,
    first: usize,
    out: &mut [FloatLine; W],
) {
    for (total, out) in totals.into_iter().zip(&mut out[first..]) {
        isa.put_floats(total, &mut out.0.as_chunks_mut().0[quarter]);
    }
}
