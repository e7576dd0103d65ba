//! Q3_K: 16 sub-blocks of 16 weights, 3-bit codes, 6-bit scales. Spec: `spec/ggml.md`.

use super::batch::{Batch, BlockSearch};
use super::fit::{Symmetric, chosen, codes_of_descent, extreme, fit_descents, fit_symmetric, sum_of_squares, weigh};
use super::half::half;
use super::q2_k::pack_pairs;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes, MAX_LANES, Mask};

/// Quantizer without importance.
pub(crate) struct Q3K;

/// Quantizer with importance.
pub(crate) struct WeightedQ3K;

impl BlockSearch for Q3K {
    const BLOCK: GgmlBlock = GgmlBlock::Q3_K;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let zero = isa.splat(0.0);
        let mut fits = [[0.0; MAX_LANES]; 16];
        fit_descents(isa, &batch.values, &mut fits);
        let mut scales = [zero; 16];
        for (scale, fit) in scales.iter_mut().zip(&fits) {
            *scale = isa.load(fit);
        }
        let (largest, _) = extreme(isa, &scales);
        let some = largest.ne(zero);
        // Negative, so that the largest scale gets the code -32, the end of the range that has one code more.
        let factor = isa.splat(-32.0) / largest;
        let (bottom, top) = (isa.splat(-32.0), isa.splat(31.0));
        let mut codes = [[0.0; MAX_LANES]; 16];
        for (scale, codes) in scales.iter().zip(&mut codes) {
            let code = (factor * *scale).nearest().min(top).max(bottom);
            I::F::select(some, code - bottom, zero).store(codes);
        }
        let mut steps = [0.0; MAX_LANES];
        I::F::select(some, isa.splat(1.0) / factor, zero).store(&mut steps);
        for (lane, out) in out.chunks_exact_mut(110).enumerate() {
            let scales = core::array::from_fn(|sub| codes[sub][lane]);
            write_block(isa, batch.values[lane], steps[lane], &scales, None, out);
        }
    }
}

impl BlockSearch for WeightedQ3K {
    const BLOCK: GgmlBlock = GgmlBlock::Q3_K;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let zero = isa.splat(0.0);
        let (mut x, mut w) = ([zero; 16], [zero; 16]);
        let (mut scales, mut sums) = ([zero; 16], [zero; 16]);
        let mut factors = [[0.0; MAX_LANES]; 16];
        // Twice the mean square, as in the reference.
        let variance = isa.splat(2.0) * sum_of_squares(isa, &batch.values, 256) / isa.splat(256.0);
        for sub in 0..16 {
            isa.columns(&batch.values, 16 * sub, &mut x);
            isa.columns(&batch.importance, 16 * sub, &mut w);
            sums[sub] = weigh(isa, &x, variance, &mut w);
            let Symmetric { scale, factor } = fit_symmetric(isa, &x, &w, 4.0);
            scales[sub] = scale;
            factor.store(&mut factors[sub]);
        }
        let Symmetric { scale, factor } = fit_symmetric(isa, &scales, &sums, 32.0);
        let (bottom, top) = (isa.splat(-32.0), isa.splat(31.0));
        let none = factor.ne(zero).not();
        let mut codes = [[0.0; MAX_LANES]; 16];
        for (scale, codes) in scales.iter().zip(&mut codes) {
            let code = (factor * *scale).nearest().min(top).max(bottom);
            I::F::select(none, zero, code - bottom).store(codes);
        }
        let mut steps = [0.0; MAX_LANES];
        scale.store(&mut steps);
        for (lane, out) in out.chunks_exact_mut(110).enumerate() {
            let scales = core::array::from_fn(|sub| codes[sub][lane]);
            let factors = core::array::from_fn(|sub| factors[sub][lane]);
            write_block(isa, batch.values[lane], steps[lane], &scales, Some(&factors), out);
        }
    }
}

/// Writes the block of one lane. Scales are non-negative codes; without `factors` the fit was a descent.
#[inline(always)]
fn write_block<I: Isa>(
    isa: I,
    values: &[f32],
    step: f32,
    scales: &[f32; 16],
    factors: Option<&[f32; 16]>,
    out: &mut [u8],
) {
    let (step_bytes, step) = half(step);
    let mut codes = [0; 256];
    for (sub, (values, codes)) in values.as_chunks().0.iter().zip(codes.as_chunks_mut().0).enumerate() {
        // The codes are computed again, because the stored scale differs from the fitted one by two roundings.
        let scale = step * (scales[sub] - 32.0);
        if scale != 0.0 {
            *codes = isa.codes(values, 0.0, scale, -4, 3);
        } else if let Some(factors) = factors {
            chosen(values, factors[sub], 0.0, -4, 3, codes);
        } else {
            *codes = codes_of_descent(values);
        }
    }
    let (high_bits, rest) = out.split_at_mut(32);
    let (low_bits, rest) = rest.split_at_mut(64);
    let (out_scales, out_step) = rest.split_at_mut(12);
    let mut high = [0; 32];
    for (bit, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        for (high, code) in high.iter_mut().zip(codes) {
            *high |= (*code >> 2) << bit;
            *code &= 3;
        }
    }
    high_bits.copy_from_slice(&high);
    pack_pairs(&codes, low_bits);
    out_scales.copy_from_slice(&pack_scales(scales));
    out_step.copy_from_slice(&step_bytes);
}

/// Packs sixteen 6-bit codes: low nibbles in eight bytes, then the upper two bits of four codes per byte.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 63")]
fn pack_scales(scales: &[f32; 16]) -> [u8; 12] {
    let mut codes = [0; 16];
    for (code, scale) in codes.iter_mut().zip(scales) {
        *code = *scale as u8;
    }
    let mut packed = [0; 12];
    for i in 0..4 {
        let [a, b, c, d] = [codes[i], codes[i + 4], codes[i + 8], codes[i + 12]];
        packed[i] = a & 15 | c << 4;
        packed[i + 4] = b & 15 | d << 4;
        packed[i + 8] = a >> 4 | b >> 4 << 2 | c >> 4 << 4 | d >> 4 << 6;
    }
    packed
}
