//! Products of elements and tiles: the definition.

use super::fused::mul_add;
use super::{f32_of, minifloat_to_f32};
use crate::minifloat::{E4M3, E5M2};
use crate::product::{ElementGrids, ElementLines, Elements, FloatLine, FloatTile, WideGrid, WordLine};

/// 2^32.
pub(crate) const TWO_32: f64 = 4_294_967_296.0;

pub(crate) fn multiply_elements(elements: Elements<'_>, tiles: &[FloatTile<'_>], out: &mut [FloatLine]) {
    let mut out = out.iter_mut();
    for strip in 0..elements.count() {
        let strip = elements.range(strip, strip + 1);
        for tile in tiles {
            for row in 0..tile.width() {
                let Some(out) = out.next() else { return };
                *out = FloatLine::ZERO;
                for column in 0..strip.cols {
                    let x = tile.value(column, row);
                    for (lane, total) in out.0.iter_mut().enumerate() {
                        *total = mul_add(element_weight(&strip, column, lane), x, *total);
                    }
                }
            }
        }
    }
}

/// Dequantizes a weight of a single strip.
pub(crate) fn element_weight(strip: &Elements<'_>, column: usize, lane: usize) -> f32 {
    let byte = |lines: &[crate::product::ByteLine]| [lines[column].0[lane]];
    let mut value = [0.0];
    match strip.lines {
        ElementLines::F16(lines) => value[0] = f32_of(lines[column].0[lane]),
        ElementLines::BF16(lines) => value[0] = f32::from_bits(u32::from(lines[column].0[lane]) << 16),
        ElementLines::U16(lines) => value[0] = f32::from(lines[column].0[lane]),
        ElementLines::E4M3(lines) => minifloat_to_f32::<E4M3>(&byte(lines), &mut value),
        ElementLines::E5M2(lines) => minifloat_to_f32::<E5M2>(&byte(lines), &mut value),
        ElementLines::I32(_) | ElementLines::I64(_) | ElementLines::F64(_) => return wide_weight(strip, column, lane),
    }
    let ElementGrids::Floats(grids) = strip.grids else { return value[0] };
    let [scales, zeros] = &grids[column / strip.group];
    let (scale, zero) = (scales.0[lane], zeros.0[lane]);
    if matches!(strip.lines, ElementLines::U16(_)) { (value[0] - zero) * scale } else { value[0] * scale }
}

/// Dequantizes a weight of 32 or 64 bits. The distance from the zero point is rounded once, because the differences of
/// words and the product with 2^32 are exact.
#[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
fn wide_weight(strip: &Elements<'_>, column: usize, lane: usize) -> f32 {
    let grid = match strip.grids {
        ElementGrids::Wide(grids) => &grids[column / strip.group],
        _ => &WideGrid::ZERO,
    };
    let step = |line: &WordLine, word: usize| f64::from(line.0[lane]) - grid.zeros[word].0[lane];
    let scale = grid.scales.0[lane];
    let weight = match strip.lines {
        ElementLines::I32(lines) => step(&lines[column], 1) * scale,
        ElementLines::I64(lines) => {
            let [high, low] = &lines[column];
            (step(high, 0) * TWO_32 + step(low, 1)) * scale
        }
        ElementLines::F64(lines) => lines[column].0[lane],
        _ => 0.0,
    };
    weight as f32
}
