//! Super-blocks whose sub-blocks have a scale and a minimum: the common part of Q2_K, Q4_K and Q5_K.

use core::marker::PhantomData;

use super::batch::{Batch, BlockSearch};
use super::fit::{Affine, Columns, Plan, chosen, fit_affine, fit_positive, sum_of_squares, weigh};
use super::half::half;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Parameters of a format with scales and minima.
pub(crate) trait AffineFormat {
    const BLOCK: GgmlBlock;
    /// Weights per sub-block.
    const SUB: usize;
    /// Largest code of a scale.
    const SCALE_TOP: f32;
    /// Limit of a scale's code, without and with importance; codes are bytes before.
    const SCALE_CUT: [f32; 2];
    /// Search plan, without and with importance.
    const PLANS: [Plan; 2];
    /// Multiple of the mean square that is added in a weight.
    const VARIANCES: f32;

    /// Computes the weights of errors without importance.
    fn weights<I: Isa>(isa: I, x: &[I::F], weights: &mut [I::F]);

    /// Packs codes of scales and minima as they are stored, in the first bytes.
    fn pack_scales(scales: &[u8; 16], minima: &[u8; 16]) -> [u8; 16];

    /// Returns the codes of sub-block `sub` from the packed bytes.
    fn unpack_scale(packed: &[u8; 16], sub: usize) -> (u8, u8);

    /// Writes a block.
    fn write(scale: [u8; 2], min: [u8; 2], scales: &[u8; 16], codes: &[u8; 256], out: &mut [u8]);
}

/// Quantizer of a format, `WEIGHTED` by importance or not.
pub(crate) struct AffineK<A, const WEIGHTED: bool>(PhantomData<A>);

/// Results of the fits of each lane, indexed by sub-block first.
struct Table {
    scales: [[f32; MAX_LANES]; 16],
    minima: [[f32; MAX_LANES]; 16],
    factors: [[f32; MAX_LANES]; 16],
    minuses: [[f32; MAX_LANES]; 16],
}

impl<A: AffineFormat, const WEIGHTED: bool> BlockSearch for AffineK<A, WEIGHTED> {
    const BLOCK: GgmlBlock = A::BLOCK;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let zero = isa.splat(0.0);
        let empty = [[0.0; MAX_LANES]; 16];
        let mut table = Table { scales: empty, minima: empty, factors: empty, minuses: empty };
        let (mut scales, mut minima, mut sums) = ([zero; 16], [zero; 16], [zero; 16]);
        let subs = 256 / A::SUB;
        let variance = if WEIGHTED {
            isa.splat(A::VARIANCES) * sum_of_squares(isa, &batch.values, 256) / isa.splat(256.0)
        } else {
            zero
        };
        let mut columns = Columns::new(zero);
        for sub in 0..subs {
            let (x, w) = (&mut columns.x[..A::SUB], &mut columns.w[..A::SUB]);
            isa.columns(&batch.values, sub * A::SUB, x);
            if WEIGHTED {
                isa.columns(&batch.importance, sub * A::SUB, w);
                sums[sub] = weigh(isa, x, variance, w);
            } else {
                A::weights(isa, x, w);
            }
            let Affine { scale, min, factor, minus } =
                fit_affine(isa, &mut columns, A::SUB, A::PLANS[usize::from(WEIGHTED)]);
            (scales[sub], minima[sub]) = (scale, min.neg());
            factor.store(&mut table.factors[sub]);
            minus.store(&mut table.minuses[sub]);
        }
        let cut = isa.splat(A::SCALE_CUT[usize::from(WEIGHTED)]);
        let mut steps = [[0.0; MAX_LANES]; 2];
        let both = [(&mut scales, &mut table.scales), (&mut minima, &mut table.minima)];
        for ((values, table), step) in both.into_iter().zip(&mut steps) {
            let values = &mut values[..subs];
            if WEIGHTED {
                fit_positive(isa, values, &sums, A::SCALE_TOP)
            } else {
                codes_of_largest(isa, values, A::SCALE_TOP)
            }
            .store(step);
            for (code, lanes) in values.iter().zip(table) {
                code.min(cut).store(lanes);
            }
        }
        for (lane, out) in out.chunks_exact_mut(A::BLOCK.bytes()).enumerate() {
            write_block::<I, A>(isa, batch.values[lane], lane, &table, [steps[0][lane], steps[1][lane]], out);
        }
    }
}

/// Replaces values by codes of 0 to `top`, where `top` is the code of the largest; returns the scale of the codes.
#[inline(always)]
fn codes_of_largest<I: Isa>(isa: I, values: &mut [I::F], top: f32) -> I::F {
    let zero = isa.splat(0.0);
    let mut max = zero;
    for &value in values.iter() {
        max = value.max(max);
    }
    let some = max.gt(zero);
    let factor = I::F::select(some, isa.splat(top) / max, zero);
    for value in values {
        *value = (factor * *value).nearest().low_byte();
    }
    I::F::select(some, max / isa.splat(top), zero)
}

/// Writes the block of one lane. Codes are computed for the stored scales, not for the fitted ones.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes of scales are bytes by now")]
fn write_block<I: Isa, A: AffineFormat>(
    isa: I,
    values: &[f32],
    lane: usize,
    table: &Table,
    steps: [f32; 2],
    out: &mut [u8],
) {
    let ((scale_bytes, scale), (min_bytes, min)) = (half(steps[0]), half(steps[1]));
    let packed = A::pack_scales(
        &core::array::from_fn(|sub| table.scales[sub][lane] as u8),
        &core::array::from_fn(|sub| table.minima[sub][lane] as u8),
    );
    let top = A::PLANS[0].top as i32;
    let mut codes = [0; 256];
    for (sub, (values, codes)) in values.chunks_exact(A::SUB).zip(codes.chunks_exact_mut(A::SUB)).enumerate() {
        let (scale_code, min_code) = A::unpack_scale(&packed, sub);
        let (scale, min) = (scale * f32::from(scale_code), min * f32::from(min_code));
        if scale == 0.0 {
            // With a scale of 0 these codes have no effect, but the reference writes those of the fit.
            chosen(values, table.factors[sub][lane], table.minuses[sub][lane], 0, top, codes);
        } else {
            for (values, codes) in values.as_chunks().0.iter().zip(codes.as_chunks_mut().0) {
                *codes = isa.codes(values, min, scale, 0, top);
            }
        }
    }
    A::write(scale_bytes, min_bytes, &packed, &codes, out);
}
