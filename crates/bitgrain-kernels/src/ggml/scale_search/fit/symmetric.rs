//! Scale of a block with both signs: the best of nineteen candidates around the largest magnitude, by weighted least
//! squares.

use crate::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Best fit: a value is `scale * code`.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric<F> {
    pub(crate) scale: F,
    /// Codes of the fit are `nearest(factor * x)`; if the factor is 0, all are the lowest.
    pub(crate) factor: F,
}

/// Magnitude below which a block counts as all zeros.
pub(crate) const NOTHING: f32 = 1e-15;

/// Returns the value of largest magnitude, the first one on ties, and a mask of lanes whose values are all negligible.
#[inline(always)]
pub(crate) fn extreme<I: Isa>(isa: I, x: &[I::F]) -> (I::F, <I::F as Lanes>::Mask) {
    let (mut extreme, mut magnitude) = (isa.splat(0.0), isa.splat(0.0));
    for &x in x {
        let greater = x.abs().gt(magnitude);
        magnitude = I::F::select(greater, x.abs(), magnitude);
        extreme = I::F::select(greater, x, extreme);
    }
    (extreme, isa.splat(NOTHING).gt(magnitude))
}

/// Fits each lane's values, at most 32, to codes of `-top..=top - 1`.
#[inline(always)]
pub(crate) fn fit_symmetric<I: Isa>(isa: I, x: &[I::F], w: &[I::F], top: f32) -> Symmetric<I::F> {
    let zero = isa.splat(0.0);
    let (extreme, empty) = extreme(isa, x);
    let mut wx = [zero; 32];
    for ((wx, &x), &w) in wx.iter_mut().zip(x).zip(w) {
        *wx = w * x;
    }
    let wx = &wx[..x.len()];

    let mut factor = isa.splat(-top) / extreme;
    let (sum_xl, sum_l2) = sums::<I, true>(isa, x, w, wx, factor, top);
    let mut scale = I::F::select(sum_l2.ne(zero), sum_xl / sum_l2, zero);
    let mut best = scale * sum_xl;
    for step in -9_i8..=9 {
        if step == 0 {
            continue;
        }
        let this_factor = isa.splat(-(top + 0.1 * f32::from(step))) / extreme;
        // Up to step 4, products are at least `-top - 0.45`, so that no lower clamp is needed.
        let (sum_xl, sum_l2) = if step <= 4 {
            sums::<I, false>(isa, x, w, wx, this_factor, top)
        } else {
            sums::<I, true>(isa, x, w, wx, this_factor, top)
        };
        let better = sum_l2.gt(zero).and((sum_xl * sum_xl).gt(best * sum_l2));
        if better.any() {
            scale = I::F::select(better, sum_xl / sum_l2, scale);
            best = I::F::select(better, scale * sum_xl, best);
            factor = I::F::select(better, this_factor, factor);
        }
    }
    Symmetric { scale: I::F::select(empty, zero, scale), factor: I::F::select(empty, zero, factor) }
}

/// Returns the sums of `w x l` and `w l l` over the codes `l` of a candidate.
#[inline(always)]
fn sums<I: Isa, const LIFT: bool>(isa: I, x: &[I::F], w: &[I::F], wx: &[I::F], factor: I::F, top: f32) -> (I::F, I::F) {
    let (bottom, top, rounder) = (isa.splat(-top), isa.splat(top - 1.0), isa.splat(ROUNDER));
    let (mut sum_xl, mut sum_l2) = (isa.splat(0.0), isa.splat(0.0));
    for ((&x, &w), &wx) in x.iter().zip(w).zip(wx) {
        let scaled = (factor * x).min(top);
        let scaled = if LIFT { scaled.max(bottom) } else { scaled };
        let l = (scaled + rounder) - rounder;
        sum_xl = sum_xl + wx * l;
        sum_l2 = sum_l2 + w * l * l;
    }
    (sum_xl, sum_l2)
}
