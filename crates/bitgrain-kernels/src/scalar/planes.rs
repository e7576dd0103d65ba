//! Products of planes and tiles: the definition.

use super::fused::mul_add;
use crate::product::{FloatLine, PlaneTile, Planes};

pub(crate) fn multiply_planes(planes: Planes<'_>, tiles: &[PlaneTile<'_>], out: &mut [FloatLine]) {
    let mut out = out.iter_mut();
    for strip in 0..planes.count() {
        let strip = planes.range(strip, strip + 1);
        for tile in tiles {
            for row in 0..tile.width() {
                let Some(out) = out.next() else { return };
                out.0 = core::array::from_fn(|lane| product(&strip, lane, tile, row));
            }
        }
    }
}

/// Multiplies a row of weights with a row of activations. Sums of integers are exact; parts of equal scale are added in
/// column order by fused multiply-adds: this order and these roundings define the bits that every backend must return.
#[expect(clippy::cast_precision_loss, reason = "at most 32 * 255 * 128, which an f32 holds")]
fn product(strip: &Planes<'_>, lane: usize, tile: &PlaneTile<'_>, row: usize) -> f32 {
    let parts = if strip.is_halved() { 2 } else { 1 };
    let len = 32 / parts;
    let mut total = 0.0;
    for block in 0..strip.blocks {
        let integers = strip.integers(block, lane);
        let (codes, activation_scale) = tile.block(block, row);
        for part in 0..parts {
            let columns = part * len..(part + 1) * len;
            let codes = &codes[columns.clone()];
            let sum: i32 = integers[columns].iter().zip(codes).map(|(&a, &b)| a * i32::from(b)).sum();
            let (scale, min) = strip.scale(block, part, lane);
            total = mul_add(sum as f32, scale * activation_scale, total);
            if strip.has_mins() {
                let [first, second] = tile.sums(block, row);
                let sum = if parts == 1 { first + second } else { [first, second][part] };
                total = mul_add(sum as f32, min * activation_scale, total);
            }
        }
    }
    total
}
