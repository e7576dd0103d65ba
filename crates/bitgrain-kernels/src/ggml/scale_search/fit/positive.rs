//! Codes of a super-block's scales, all non-negative: the best of nine candidates, then improved one code at a time.

use super::symmetric::NOTHING;
use crate::lanes::{Isa, Lanes, Mask};

/// Replaces each lane's values, at most 16, by codes up to `top`. Returns the scale of the codes.
///
/// Negative values, which ordinary blocks do not have, are treated like in the reference: as the byte of a negative
/// code.
#[inline(always)]
pub(crate) fn fit_positive<I: Isa>(isa: I, values: &mut [I::F], w: &[I::F], top: f32) -> I::F {
    let (zero, one, top_lanes) = (isa.splat(0.0), isa.splat(1.0), isa.splat(top));
    let mut x = [zero; 16];
    let x = &mut x[..values.len()];
    x.copy_from_slice(values);
    let codes = values;
    let mut max = zero;
    for &x in x.iter() {
        max = max.max(x);
    }
    let empty = isa.splat(NOTHING).gt(max);

    let mut factor = top_lanes / max;
    let scale = one / factor;
    let mut best_error = zero;
    for (&x, &w) in x.iter().zip(w) {
        let difference = x - scale * (factor * x).nearest().low_byte();
        best_error = best_error + w * difference * difference;
    }
    for step in -4_i8..=4 {
        if step == 0 {
            continue;
        }
        let this_factor = isa.splat(0.1 * f32::from(step) + top) / max;
        let scale = one / this_factor;
        let mut error = zero;
        for (&x, &w) in x.iter().zip(w) {
            let difference = x - scale * (this_factor * x).nearest().min(top_lanes);
            error = error + w * difference * difference;
        }
        let better = best_error.gt(error);
        best_error = I::F::select(better, error, best_error);
        factor = I::F::select(better, this_factor, factor);
    }

    let (mut sum_xl, mut sum_l2) = (zero, zero);
    for ((code, &x), &w) in codes.iter_mut().zip(x.iter()).zip(w) {
        let l = (factor * x).nearest().min(top_lanes);
        *code = l.low_byte();
        sum_xl = sum_xl + w * x * l;
        sum_l2 = sum_l2 + w * l * l;
    }
    // Five passes, like the reference.
    for _ in 0..5 {
        let mut changed = false;
        for ((code, &x), &w) in codes.iter_mut().zip(x.iter()).zip(w) {
            let without_xl = sum_xl - w * x * *code;
            let without_l2 = sum_l2 - w * *code * *code;
            let l = (x * without_l2 / without_xl).nearest().min(top_lanes);
            let with_xl = without_xl + w * x * l;
            let with_l2 = without_l2 + w * l * l;
            let valid = without_xl.gt(zero).and(without_l2.gt(zero)).and(l.ne(*code));
            let better = valid.and((with_xl * with_xl * sum_l2).gt(sum_xl * sum_xl * with_l2));
            sum_xl = I::F::select(better, with_xl, sum_xl);
            sum_l2 = I::F::select(better, with_l2, sum_l2);
            *code = I::F::select(better, l.low_byte(), *code);
            changed |= better.and(empty.not()).any();
        }
        // A lane without a change in this pass would not change in the next one either.
        if !changed {
            break;
        }
    }
    for code in codes {
        *code = I::F::select(empty, zero, *code);
    }
    I::F::select(sum_l2.gt(zero).and(empty.not()), sum_xl / sum_l2, zero)
}
