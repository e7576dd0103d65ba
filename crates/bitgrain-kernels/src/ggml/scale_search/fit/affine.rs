//! Scale and minimum of a block: the best of several weighted least-squares fits.

use crate::ggml::scale_search::levels::nearest;
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Parameters of a format's search.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Largest code.
    pub(crate) top: f32,
    /// Offset of the first candidate's span from `top`, in codes.
    pub(crate) from: f32,
    /// Increment of the span between candidates.
    pub(crate) by: f32,
    /// Index of the last candidate.
    pub(crate) steps: u8,
    /// Minimizes absolute errors instead of squared errors.
    pub(crate) absolute: bool,
    /// If set, a maximum at or below the minimum gives a block without a scale; otherwise only equality does.
    pub(crate) ascending: bool,
}

/// Best fit: a value is `scale * code + min`.
#[derive(Clone, Copy)]
pub(crate) struct Affine<F> {
    pub(crate) scale: F,
    /// At most 0.
    pub(crate) min: F,
    /// Codes of the fit are `nearest(factor * (x - minus))`; if the factor is 0, all are 0.
    pub(crate) factor: F,
    pub(crate) minus: F,
}

/// Values of a fit, the weights of their errors, and space for codes.
///
/// The order matters: with 32 lanes an array has 4096 bytes, and the CPU stalls a load that follows a store 4096 bytes
/// away as if both had the same address. An extra element in the middle prevents this.
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

/// Sums of a least-squares fit.
struct Sums<F> {
    l: F,
    l2: F,
    xl: F,
}

/// Beyond this value the rounding of the reference wraps around. Kept to match the definition: 7.5 million weights made
/// to provoke it got the same blocks without it, and newer versions of the reference clamp instead if there is an
/// importance.
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
    // Only the codes are needed; the first candidate is not fitted.
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
        // The stored minimum is subtracted as a non-negative number: clamp it to 0 and refit the scale alone.
        if above.any() {
            min = I::F::select(above, zero, min);
            scale = I::F::select(above, sums.xl / sums.l2, scale);
        }
        let this_error = error(isa, x, w, codes, scale, min, plan);
        let better = det.gt(zero).and(best_error.gt(this_error));
        best_error = I::F::select(better, this_error, best_error);
        best.factor = I::F::select(better, factor, best.factor);
        // In this order: the codes of this candidate were made with the previous minimum.
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

/// Computes the codes of a candidate and their sums. The values span about `span` codes.
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
    // All values lie between these two, and so do all products, because rounding is monotonic.
    let ends = [factor * (lowest - min), factor * (max - min)];
    // Products that round to the top code or less need no clamp, which holds for two of three candidates.
    let uncut = plan.top + 0.49;
    if span < uncut && within(isa, ends, -WRAPS, uncut) {
        sum_codes::<I, false, false>(isa, x, w, factor, min, plan.top, codes)
    } else if within(isa, ends, -WRAPS, WRAPS) {
        sum_codes::<I, true, false>(isa, x, w, factor, min, plan.top, codes)
    } else {
        sum_codes::<I, true, true>(isa, x, w, factor, min, plan.top, codes)
    }
}

/// Returns whether both ends are in `least..=most` in every lane. A function, because closures are not always inlined.
#[inline(always)]
fn within<I: Isa>(isa: I, [low, high]: [I::F; 2], least: f32, most: f32) -> bool {
    let (least, most) = (isa.splat(least), isa.splat(most));
    !least.le(low).and(low.le(most)).and(least.le(high)).and(high.le(most)).not().any()
}

/// Computes codes and sums. `CUT`: values may exceed the top code. `WRAP`: values may be so large that the rounding of
/// the reference wraps around. All variants agree where neither applies.
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
        // Clamping before rounding gives the same code and keeps the rounding to two additions.
        let l = if WRAP { scaled } else { (scaled + rounder) - rounder };
        *code = l;
        let wl = w * l;
        sums.l = sums.l + wl;
        sums.l2 = sums.l2 + wl * l;
        sums.xl = sums.xl + wl * x;
    }
    sums
}

/// Returns the weighted error of a fit.
#[inline(always)]
fn error<I: Isa>(isa: I, x: &[I::F], w: &[I::F], codes: &[I::F], scale: I::F, min: I::F, plan: Plan) -> I::F {
    let mut sum = isa.splat(0.0);
    for ((&x, &w), &code) in x.iter().zip(w).zip(codes) {
        let difference = scale * code + min - x;
        sum = sum + w * if plan.absolute { difference.abs() } else { difference * difference };
    }
    sum
}

/// Computes the codes of a fit for the values of one lane, shifted from `low..=high` to start at 0; all 0 without a
/// scale.
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
