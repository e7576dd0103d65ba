//! IQ4_NL: 32 weights, one f16 scale, codes that index a table of 16 levels. Spec: `spec/ggml.md`.

use super::batch::{Batch, BlockSearch};
use super::fit::{extreme, weigh};
use super::half::half;
use super::weighted::pack_halves;
use crate::ggml::GgmlBlock;
use crate::ggml::scale_search::levels::{LEVELS, nearest_level_code};
use crate::lanes::{Isa, Lanes, MAX_LANES, Mask};

/// Quantizer, `WEIGHTED` by importance or by the square of each weight.
pub(crate) struct Iq4Nl<const WEIGHTED: bool>;

impl<const WEIGHTED: bool> BlockSearch for Iq4Nl<WEIGHTED> {
    const BLOCK: GgmlBlock = GgmlBlock::IQ4_NL;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let zero = isa.splat(0.0);
        let (mut x, mut w) = ([zero; 32], [zero; 32]);
        isa.columns(&batch.values, 0, &mut x);
        if WEIGHTED {
            let mut sum = zero;
            for x in x {
                sum = sum + x * x;
            }
            isa.columns(&batch.importance, 0, &mut w);
            weigh(isa, &x, sum * isa.splat(2.0 / 32.0), &mut w);
        } else {
            for (w, &x) in w.iter_mut().zip(&x) {
                *w = x * x;
            }
        }
        let mut scales = [0.0; MAX_LANES];
        fit(isa, &x, &w).store(&mut scales);
        for (lane, out) in out.chunks_exact_mut(18).enumerate() {
            let scale = scales[lane];
            let factor = if scale == 0.0 { 0.0 } else { 1.0 / scale };
            let mut codes = [0; 32];
            for (code, value) in codes.iter_mut().zip(batch.values[lane]) {
                *code = nearest_level_code(factor * value);
            }
            out[..2].copy_from_slice(&half(scale).0);
            pack_halves(&codes, &mut out[2..]);
        }
    }
}

/// Finds the scale of each lane's values: the best of sixteen candidates by weighted least squares.
#[inline(always)]
fn fit<I: Isa>(isa: I, x: &[I::F; 32], w: &[I::F; 32]) -> I::F {
    let zero = isa.splat(0.0);
    let (extreme, empty) = extreme(isa, x);
    let first = isa.splat(1.0) / (extreme.neg() / isa.splat(LEVELS[0]));
    let (sum_xq, sum_q2) = sums(isa, x, w, first);
    let mut scale = I::F::select(sum_q2.gt(zero), sum_xq / sum_q2, zero);
    let mut best = scale * sum_xq;
    // Fifteen candidates around the extreme, like the reference.
    for step in -7_i8..=7 {
        let factor = isa.splat(f32::from(step) + LEVELS[0]) / extreme;
        let (sum_xq, sum_q2) = sums(isa, x, w, factor);
        // Compares `sum_xq^2 / sum_q2` with the best without a division.
        let better = sum_q2.gt(zero).and((sum_xq * sum_xq).gt(best * sum_q2));
        if better.any() {
            scale = I::F::select(better, sum_xq / sum_q2, scale);
            best = I::F::select(better, scale * sum_xq, best);
        }
    }
    I::F::select(empty, zero, scale)
}

/// Returns the sums of `w x q` and `w q q` over the levels `q` nearest to `factor * x`.
#[inline(always)]
fn sums<I: Isa>(isa: I, x: &[I::F; 32], w: &[I::F; 32], factor: I::F) -> (I::F, I::F) {
    let (mut sum_xq, mut sum_q2) = (isa.splat(0.0), isa.splat(0.0));
    for (&x, &w) in x.iter().zip(w) {
        let q = (factor * x).nearest_level();
        let wq = w * q;
        sum_xq = sum_xq + wq * x;
        sum_q2 = sum_q2 + wq * q;
    }
    (sum_xq, sum_q2)
}
