//! Extremes of one block per lane, in the block's lane of the result.

use crate::generic::registers::Registers;
use crate::ggml::layout;
use crate::lanes::{Lanes, Mask};

/// Reductions of `N` blocks at once, by transposing registers as they shrink, which is specific to each instruction
/// set.
pub(crate) trait Reduce<const N: usize>: Registers<N> {
    /// Returns the largest of `least` and each block's values, ignoring NaN; `least` if it equals the largest.
    fn highest(self, blocks: &[[f32; 32]; N], least: Self::F) -> Self::F;
    /// Returns the smallest of `most` and each block's values, ignoring NaN; `most` if it equals the smallest.
    fn lowest(self, blocks: &[[f32; 32]; N], most: Self::F) -> Self::F;
}

/// Returns each block's value of largest magnitude, ignoring NaN; the first one on ties.
#[inline(always)]
pub(crate) fn largest<I: Reduce<N>, const N: usize>(isa: I, blocks: &[[f32; 32]; N]) -> I::F {
    let zero = isa.splat(0.0);
    let top = isa.highest(blocks, zero);
    let bottom = isa.lowest(blocks, zero);
    let below = zero - bottom;
    let largest = I::F::select(top.gt(below), top, bottom);
    let tied = top.ne(below).not().and(top.ne(zero));
    if tied.any() {
        let (mut tops, mut belows, mut values) = ([0.0; N], [0.0; N], [0.0; N]);
        isa.put_floats(top, &mut tops);
        isa.put_floats(below, &mut belows);
        isa.put_floats(largest, &mut values);
        fix_signs(blocks, &tops, &belows, &mut values);
        return isa.floats(&values);
    }
    largest
}

/// Corrects the result of blocks that contain the largest magnitude with both signs.
#[cold]
#[inline(never)]
fn fix_signs<const N: usize>(blocks: &[[f32; 32]; N], tops: &[f32; N], belows: &[f32; N], values: &mut [f32; N]) {
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| tops[*i] == belows[*i] && tops[*i] != 0.0) {
        values[i] = layout::largest(block);
    }
}

/// Returns each block's minimum and maximum, ignoring NaN; of zeros of both signs, the first is the minimum.
#[inline(always)]
pub(crate) fn ranges<I: Reduce<N>, const N: usize>(isa: I, blocks: &[[f32; 32]; N]) -> [I::F; 2] {
    let min = isa.lowest(blocks, isa.splat(f32::MAX));
    let max = isa.highest(blocks, isa.splat(f32::MIN));
    if min.ne(isa.splat(0.0)).not().any() {
        let (mut mins, mut maxs) = ([0.0; N], [0.0; N]);
        isa.put_floats(min, &mut mins);
        isa.put_floats(max, &mut maxs);
        fix_zero_signs(blocks, &mut mins, &mut maxs);
        return [isa.floats(&mins), isa.floats(&maxs)];
    }
    [min, max]
}

/// Corrects the ranges of blocks whose minimum is a zero of unknown sign.
#[cold]
#[inline(never)]
fn fix_zero_signs<const N: usize>(blocks: &[[f32; 32]; N], mins: &mut [f32; N], maxs: &mut [f32; N]) {
    for (i, block) in blocks.iter().enumerate() {
        if mins[i] == 0.0 {
            (mins[i], maxs[i]) = layout::range(block);
        }
    }
}
