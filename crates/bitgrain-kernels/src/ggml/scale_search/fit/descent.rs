//! Scale of a Q3_K sub-block: starts with codes that fit the largest magnitude and improves one code at a time.

use super::symmetric::extreme;
use crate::lanes::{Isa, Lanes, MAX_LANES, Mask, ROUNDER};
use crate::scalar::Portable;

/// Codes are `-TOP..=TOP - 1`.
const TOP: f32 = 4.0;

/// Sums over the codes of a sub-block.
struct Sums<F: Lanes> {
    sum_xl: F,
    sum_l2: F,
    /// Set where all values are negligible.
    empty: F::Mask,
}

/// Finds the scales of a super-block's 16 sub-blocks of 16 weights, for each lane.
///
/// The reference divides by minus the largest value, so if that is positive, the sum of `w x l` is not: no term is
/// positive, and a rounded sum of such terms never exceeds any of them. The descent then changes nothing. This holds
/// for half of all sub-blocks, so lanes are filled only with the others.
#[inline(always)]
pub(crate) fn fit_descents<I: Isa>(isa: I, blocks: &[&[f32]; MAX_LANES], scales: &mut [[f32; MAX_LANES]; 16]) {
    let zero = isa.splat(0.0);
    let (mut x, mut codes) = ([zero; 16], [zero; 16]);
    let mut places = [(0_u8, 0_u8); 16 * MAX_LANES];
    let mut len = 0;
    for (sub, scales) in (0..16).zip(scales.iter_mut()) {
        isa.columns(blocks, 16 * usize::from(sub), &mut x);
        let first = start(isa, &x, &mut codes);
        scale(isa, &first).store(scales);
        let mut sums = [0.0; MAX_LANES];
        first.sum_xl.store(&mut sums);
        for (lane, &sum) in (0..).zip(&sums[..I::F::LANES]) {
            // Written unconditionally and kept only if the length advances, which avoids a branch.
            places[len] = (sub, lane);
            len += usize::from(sum > 0.0);
        }
    }
    for places in places[..len].chunks(I::F::LANES) {
        let mut rows = [blocks[0]; MAX_LANES];
        for (row, &(sub, lane)) in rows.iter_mut().zip(places) {
            *row = &blocks[usize::from(lane)][16 * usize::from(sub)..];
        }
        isa.columns(&rows, 0, &mut x);
        let mut results = [0.0; MAX_LANES];
        scale(isa, &descend(isa, &x, &mut codes)).store(&mut results);
        for (&(sub, lane), result) in places.iter().zip(results) {
            scales[usize::from(sub)][usize::from(lane)] = result;
        }
    }
}

/// Computes codes that fit the value of largest magnitude.
#[inline(always)]
fn start<I: Isa>(isa: I, x: &[I::F; 16], codes: &mut [I::F; 16]) -> Sums<I::F> {
    let zero = isa.splat(0.0);
    let (bottom, top, rounder) = (isa.splat(-TOP), isa.splat(TOP - 1.0), isa.splat(ROUNDER));
    let (extreme, empty) = extreme(isa, x);
    let factor = bottom / extreme;
    let mut sums = Sums { sum_xl: zero, sum_l2: zero, empty };
    for (&x, code) in x.iter().zip(codes) {
        let l = ((factor * x).min(top) + rounder) - rounder;
        *code = l;
        let w = x * x;
        sums.sum_xl = sums.sum_xl + w * x * l;
        sums.sum_l2 = sums.sum_l2 + w * l * l;
    }
    sums
}

#[inline(always)]
fn scale<I: Isa>(isa: I, at: &Sums<I::F>) -> I::F {
    let zero = isa.splat(0.0);
    I::F::select(at.sum_l2.gt(zero).and(at.empty.not()), at.sum_xl / at.sum_l2, zero)
}

/// Moves one code after another to its optimum given the others, while that reduces the error, in at most five passes.
#[inline(always)]
fn descend<I: Isa>(isa: I, x: &[I::F; 16], codes: &mut [I::F; 16]) -> Sums<I::F> {
    let zero = isa.splat(0.0);
    let (bottom, top) = (isa.splat(-TOP), isa.splat(TOP - 1.0));
    let Sums { mut sum_xl, mut sum_l2, empty } = start(isa, x, codes);
    let (mut w, mut wx) = ([zero; 16], [zero; 16]);
    for ((w, wx), &x) in w.iter_mut().zip(&mut wx).zip(x) {
        *w = x * x;
        *wx = *w * x;
    }
    // Five passes, like the reference.
    for _ in 0..5 {
        let mut changed = zero.gt(zero);
        for (((&x, &w), &wx), code) in x.iter().zip(&w).zip(&wx).zip(&mut *codes) {
            let without_xl = sum_xl - wx * *code;
            let without_l2 = sum_l2 - w * *code * *code;
            let l = (x * without_l2 / without_xl).nearest().max(bottom).min(top);
            let with_xl = without_xl + wx * l;
            let with_l2 = without_l2 + w * l * l;
            let valid = without_xl.gt(zero).and(l.ne(*code)).and(with_l2.gt(zero));
            // Compares `with_xl^2 / with_l2` with `sum_xl^2 / sum_l2` without divisions, like the reference.
            let better = valid.and((with_xl * with_xl * sum_l2).gt(sum_xl * sum_xl * with_l2));
            sum_xl = I::F::select(better, with_xl, sum_xl);
            sum_l2 = I::F::select(better, with_l2, sum_l2);
            *code = I::F::select(better, l, *code);
            changed = changed.or(better);
        }
        // A lane without a change in this pass would not change in the next one either.
        if !changed.any() {
            break;
        }
    }
    Sums { sum_xl, sum_l2, empty }
}

/// Returns the codes of one sub-block, shifted to start at 0. Rarely needed: only if its scale is stored as 0.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 7")]
pub(crate) fn codes_of_descent(values: &[f32; 16]) -> [u8; 16] {
    let (top, zero) = (Portable.splat(TOP), Portable.splat(0.0));
    let mut codes = [zero; 16];
    let end = descend(Portable, &values.map(|value| Portable.splat(value)), &mut codes);
    codes.map(|code| {
        let mut lanes = [0.0; MAX_LANES];
        Lanes::select(end.empty, zero, code + top).store(&mut lanes);
        lanes[0] as u8
    })
}
