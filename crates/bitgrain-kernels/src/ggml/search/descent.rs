//! Scale of a Q3_K sub-block: from codes that fit the largest magnitude, one code moved at a time while it helps.

use super::symmetric::extreme;
use crate::ggml::lanes::{Isa, Lanes, MAX_LANES, Mask, ROUNDER};
use crate::scalar::Portable;

/// Codes are `-TOP..=TOP - 1`.
const TOP: f32 = 4.0;

/// The scale that each lane's values, 16 of them, end with.
#[inline(always)]
pub(crate) fn fit_descent<I: Isa>(isa: I, x: &[I::F; 16]) -> I::F {
    descend(isa, x).0
}

/// The scale and the codes, counted from 0; without a scale all are 0.
#[inline(always)]
fn descend<I: Isa>(isa: I, x: &[I::F; 16]) -> (I::F, [I::F; 16]) {
    let zero = isa.splat(0.0);
    let (bottom, top, rounder) = (isa.splat(-TOP), isa.splat(TOP - 1.0), isa.splat(ROUNDER));
    let (extreme, empty) = extreme(isa, x);
    let factor = bottom / extreme;
    let mut codes = [zero; 16];
    let (mut sum_xl, mut sum_l2) = (zero, zero);
    for (&x, code) in x.iter().zip(&mut codes) {
        let l = ((factor * x).min(top) + rounder) - rounder;
        *code = l;
        let w = x * x;
        sum_xl = sum_xl + w * x * l;
        sum_l2 = sum_l2 + w * l * l;
    }
    for _ in 0..5 {
        let mut changed = empty.and(empty.not());
        for (&x, code) in x.iter().zip(&mut codes) {
            let w = x * x;
            let without_xl = sum_xl - w * x * *code;
            let without_l2 = sum_l2 - w * *code * *code;
            let target = x * without_l2;
            let l = (target / without_xl).nearest().max(bottom).min(top);
            let with_xl = without_xl + w * x * l;
            let with_l2 = without_l2 + w * l * l;
            let valid = without_xl.gt(zero).and(l.ne(*code)).and(with_l2.gt(zero));
            let better = valid.and((with_xl * with_xl * sum_l2).gt(sum_xl * sum_xl * with_l2));
            sum_xl = I::F::select(better, with_xl, sum_xl);
            sum_l2 = I::F::select(better, with_l2, sum_l2);
            *code = I::F::select(better, l, *code);
            changed = changed.or(better);
        }
        // A lane where nothing changed would not change in another round either.
        if !changed.and(empty.not()).any() {
            break;
        }
    }
    for code in &mut codes {
        *code = I::F::select(empty, zero, *code - bottom);
    }
    (I::F::select(sum_l2.gt(zero).and(empty.not()), sum_xl / sum_l2, zero), codes)
}

/// The codes of one sub-block, counted from 0. They are seldom wanted: only if its scale is stored as 0.
#[inline(never)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 7")]
pub(crate) fn codes_of_descent(values: &[f32; 16]) -> [u8; 16] {
    let (_, codes) = descend(Portable, &values.map(|value| Portable.splat(value)));
    codes.map(|code| {
        let mut lanes = [0.0; MAX_LANES];
        code.store(&mut lanes);
        lanes[0] as u8
    })
}
