//! Products of strips and tiles: the definition.

use crate::product::{CodeLine, FloatLine, HalfLine, StripBits, Strips, Tile, TileBlocks, block_codes, strip_walk};
use crate::scalar::f32_of;
use crate::scalar::fused::mul_add;

pub(crate) fn multiply_strips(strips: Strips<'_>, tiles: &[Tile<'_>], out: &mut [FloatLine]) {
    strip_walk!(strips, tiles, out);
}

/// Multiplies a strip with a scale per block.
fn halves<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[HalfLine],
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    // Sums within a block are exact. Blocks are added in column order by fused multiply-adds: this order and these
    // roundings define the bits that every backend must return.
    *out = [FloatLine::ZERO; W];
    for (block, (lines, scales)) in lines.iter().zip(scales).enumerate() {
        for lane in 0..16 {
            let (codes, scale) = (codes(lines, lane), f32_of(scales.0[lane]));
            for (row, out) in out.iter_mut().enumerate() {
                let scale = scale * tile.scales[block][row];
                out.0[lane] = mul_add(sum(&codes, tile, block, row), scale, out.0[lane]);
            }
        }
    }
}

/// Multiplies a strip with a scale per group of blocks.
fn groups<const LINES: usize, const W: usize>(
    lines: &[[CodeLine; LINES]],
    scales: &[FloatLine],
    each: usize,
    tile: TileBlocks<'_, W>,
    out: &mut [FloatLine; W],
) {
    *out = [FloatLine::ZERO; W];
    for (group, (lines, scales)) in lines.chunks(each).zip(scales).enumerate() {
        // The scale of a group is applied to the sum of its blocks, so a group adds one rounding to the output.
        let mut sums = [[0.0; 16]; W];
        for (block, lines) in lines.iter().enumerate() {
            for lane in 0..16 {
                let codes = codes(lines, lane);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let (block, so_far) = (group * each + block, sums[lane]);
                    sums[lane] = mul_add(sum(&codes, tile, block, row), tile.scales[block][row], so_far);
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            for ((out, sum), scale) in out.0.iter_mut().zip(sums).zip(scales.0) {
                *out = mul_add(sum, scale, *out);
            }
        }
    }
}

fn codes<const LINES: usize>(lines: &[CodeLine; LINES], lane: usize) -> [i16; 32] {
    block_codes(if LINES == 4 { StripBits::Four } else { StripBits::Eight }, lines, lane)
}

/// Returns the exact sum of a block's products of codes.
#[expect(clippy::cast_precision_loss, reason = "at most 32 * 128 * 128, which an f32 holds")]
fn sum<const W: usize>(weights: &[i16; 32], tile: TileBlocks<'_, W>, block: usize, row: usize) -> f32 {
    let mut sum = 0;
    for (weights, four) in weights.as_chunks::<4>().0.iter().zip(&tile.codes[block][row]) {
        for (&weight, byte) in weights.iter().zip(four.to_le_bytes()) {
            sum += i32::from(weight) * i32::from(byte.cast_signed());
        }
    }
    sum as f32
}
