//! Scale and minimum of a block: a weighted least-squares fit for each of several steps, the best one kept.

use crate::ggml::scale_search::levels::nearest;
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};

/// How a format searches.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The highest code.
    pub(crate) top: f32,
    /// What the first step tries beyond `top`, as steps over the range of the values.
    pub(crate) from: f32,
    /// From one step to the next.
    pub(crate) by: f32,
    /// The number of the last step.
    pub(crate) steps: u8,
    /// Absolute errors, not squares.
    pub(crate) absolute: bool,
    /// Values that do not ascend give a block without a scale; otherwise only equal ones do.
    pub(crate) ascending: bool,
}

/// The best fit: a value is `scale * code + min`.
#[derive(Clone, Copy)]
pub(crate) struct Affine<F> {
    pub(crate) scale: F,
    /// Never positive.
    pub(crate) min: F,
    /// Codes of the fit are `nearest(factor * (x - minus))`; where the factor is 0 all are 0.
    pub(crate) factor: F,
    pub(crate) minus: F,
}

/// The values of a fit, the weights of their errors, and room for codes.
///
/// In one place because of where they end up: with 32 lanes an array is 4096 bytes, and a load that follows a store
/// 4096 bytes away waits for it as if it were the same address. One element more in the middle prevents that.
#[repr(C)]
pub(crate) struct Columns<F> {
    pub(crate) x: [F; 32],
    codes: [F; 33],
    pub(crate) w: [F; 32],
}

impl<F: Copy> Columns<F> {
    #[inline(always)]
    pub(crate) fn new(zero: F) -> Self {
        Self { x: [zero; 32], codes: [zero; 33], w: [zero; 32] }
    }
}

/// The sums a least-squares fit is made of.
struct Sums<F> {
    l: F,
    l2: F,
    xl: F,
}

/// Beyond this the reference's rounding wraps around. Kept for the sake of the definition: 7.5 million weights made to
/// provoke it got the same blocks without, and newer versions of the reference, given an importance, cut instead.
const WRAPS: f32 = 4_194_303.0;

/// Fits the first `len` values of each lane.
#[inline(always)]
pub(crate) fn fit_affine<I: Isa>(isa: I, columns: &mut Columns<I::F>, len: usize, plan: Plan) -> Affine<I::F> {
    let (x, w, codes) = (&columns.x[..len], &columns.w[..len], &mut columns.codes[..len]);
    let zero = isa.splat(0.0);
    let top = isa.splat(plan.top);
    let (mut lowest, mut max, mut sum_w, mut sum_x) = (x[0], x[0], w[0], w[0] * x[0]);
    for (&x, &w) in x[1..].iter().zip(&w[1..]) {
        lowest = x.min(lowest);
        max = x.max(max);
        sum_w = sum_w + w;
        sum_x = sum_x + w * x;
    }
    let first_min = zero.min(lowest);
    let flat = if plan.ascending { max.le(first_min) } else { max.ne(first_min).not() };

    let mut best = Affine { scale: zero, min: first_min, factor: top / (max - first_min), minus: first_min };
    best.scale = isa.splat(1.0) / best.factor;
    // Only the codes are wanted; a first guess is not fitted.
    fit_codes(isa, x, w, [lowest, max], best.factor, best.min, plan.top, plan, codes);
    let mut best_error = error(isa, x, w, codes, best.scale, best.min, plan);

    for step in 0..=plan.steps {
        let span = plan.from + plan.by * f32::from(step) + plan.top;
        let factor = isa.splat(span) / (max - best.min);
        let sums = fit_codes(isa, x, w, [lowest, max], factor, best.min, span, plan, codes);
        let det = sum_w * sums.l2 - sums.l * sums.l;
        let mut scale = (sum_w * sums.xl - sum_x * sums.l) / det;
        let mut min = (sums.l2 * sum_x - sums.l * sums.xl) / det;
        let above = min.gt(zero);
        if above.any() {
            min = I::F::select(above, zero, min);
            scale = I::F::select(above, sums.xl / sums.l2, scale);
        }
        let this_error = error(isa, x, w, codes, scale, min, plan);
        let better = det.gt(zero).and(best_error.gt(this_error));
        best_error = I::F::select(better, this_error, best_error);
        best.factor = I::F::select(better, factor, best.factor);
        best.minus = I::F::select(better, best.min, best.minus);
        best.scale = I::F::select(better, scale, best.scale);
        best.min = I::F::select(better, min, best.min);
    }
    Affine {
        scale: I::F::select(flat, zero, best.scale),
        min: I::F::select(flat, first_min, best.min),
        factor: I::F::select(flat, zero, best.factor),
        minus: best.minus,
    }
}

/// The codes of a step, and their sums. The values span `span` codes, more or less.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one loop of the search, inlined into it")]
fn fit_codes<I: Isa>(
    isa: I,
    x: &[I::F],
    w: &[I::F],
    [lowest, max]: [I::F; 2],
    factor: I::F,
    min: I::F,
    span: f32,
    plan: Plan,
    codes: &mut [I::F],
) -> Sums<I::F> {
    // Every value is between these two, and so is every product, because rounding keeps the order.
    let ends = [factor * (lowest - min), factor * (max - min)];
    // What rounds to the top code or less needs no cut. Two steps out of three are like that.
    let uncut = plan.top + 0.49;
    if span < uncut && within(isa, ends, -WRAPS, uncut) {
        sum_codes::<I, false, false>(isa, x, w, factor, min, plan.top, codes)
    } else if within(isa, ends, -WRAPS, WRAPS) {
        sum_codes::<I, true, false>(isa, x, w, factor, min, plan.top, codes)
    } else {
        sum_codes::<I, true, true>(isa, x, w, factor, min, plan.top, codes)
    }
}

/// Whether both ends are `least..=most` in every lane. A function, because a closure would not inline for certain.
#[inline(always)]
fn within<I: Isa>(isa: I, [low, high]: [I::F; 2], least: f32, most: f32) -> bool {
    let (least, most) = (isa.splat(least), isa.splat(most));
    !least.le(low).and(low.le(most)).and(least.le(high)).and(high.le(most)).not().any()
}

/// `CUT` is for values that may be above the top code, `WRAP` for values so large that the reference's rounding wraps
/// around. Where neither is so all give the same.
#[inline(always)]
fn sum_codes<I: Isa, const CUT: bool, const WRAP: bool>(
    isa: I,
    x: &[I::F],
    w: &[I::F],
    factor: I::F,
    min: I::F,
    top: f32,
    codes: &mut [I::F],
) -> Sums<I::F> {
    let (zero, top, rounder) = (isa.splat(0.0), isa.splat(top), isa.splat(ROUNDER));
    let mut sums = Sums { l: zero, l2: zero, xl: zero };
    for ((&x, &w), code) in x.iter().zip(w).zip(codes) {
        let scaled = factor * (x - min);
        let scaled = if WRAP { scaled.nearest() } else { scaled }.max(zero);
        let scaled = if CUT { scaled.min(top) } else { scaled };
        // Cutting first gives the same code, and keeps the rounding to two additions.
        let l = if WRAP { scaled } else { (scaled + rounder) - rounder };
        *code = l;
        let wl = w * l;
        sums.l = sums.l + wl;
        sums.l2 = sums.l2 + wl * l;
        sums.xl = sums.xl + wl * x;
    }
    sums
}

/// The weighted error of a fit.
#[inline(always)]
fn error<I: Isa>(isa: I, x: &[I::F], w: &[I::F], codes: &[I::F], scale: I::F, min: I::F, plan: Plan) -> I::F {
    let mut sum = isa.splat(0.0);
    for ((&x, &w), &code) in x.iter().zip(w).zip(codes) {
        let difference = scale * code + min - x;
        sum = sum + w * if plan.absolute { difference.abs() } else { difference * difference };
    }
    sum
}

/// The codes a fit chose, for values of one lane. `low..=high` become `0..`, unless there is no scale.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a code: `high - low` fits a byte")]
pub(crate) fn chosen(values: &[f32], factor: f32, minus: f32, low: i32, high: i32, codes: &mut [u8]) {
    for (code, value) in codes.iter_mut().zip(values) {
        *code = (nearest(factor * (value - minus)).min(high).max(low) - low) as u8;
    }
    if factor == 0.0 {
        codes.fill(0);
    }
}
