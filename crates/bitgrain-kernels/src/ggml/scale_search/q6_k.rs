//! Q6_K: 16 sub-blocks of 16 weights, 6-bit codes, 8-bit scales. Spec: `spec/ggml.md`.

use super::batch::{Batch, BlockSearch};
use super::fit::{NOTHING, Symmetric, chosen, extreme, fit_symmetric};
use super::half::half;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Quantizer, `WEIGHTED` by importance or by the square of each weight.
pub(crate) struct Q6K<const WEIGHTED: bool>;

impl<const WEIGHTED: bool> BlockSearch for Q6K<WEIGHTED> {
    const BLOCK: GgmlBlock = GgmlBlock::Q6_K;

    #[inline(always)]
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]) {
        let zero = isa.splat(0.0);
        let (mut x, mut w) = ([zero; 16], [zero; 16]);
        let mut scales = [zero; 16];
        let mut factors = [[0.0; MAX_LANES]; 16];
        for sub in 0..16 {
            isa.columns(&batch.values, 16 * sub, &mut x);
            if WEIGHTED {
                isa.columns(&batch.importance, 16 * sub, &mut w);
            } else {
                for (w, &x) in w.iter_mut().zip(&x) {
                    *w = x * x;
                }
            }
            let Symmetric { scale, factor } = fit_symmetric(isa, &x, &w, 32.0);
            scales[sub] = scale;
            factor.store(&mut factors[sub]);
        }
        let (largest, _) = extreme(isa, &scales);
        // Negative, so that the largest scale gets the code -128, the end of the range that has one code more.
        let factor = isa.splat(-128.0) / largest;
        let mut codes = [[0.0; MAX_LANES]; 16];
        for (scale, codes) in scales.iter().zip(&mut codes) {
            (factor * *scale).nearest().min(isa.splat(127.0)).store(codes);
        }
        let (mut steps, mut magnitudes) = ([0.0; MAX_LANES], [0.0; MAX_LANES]);
        (isa.splat(1.0) / factor).store(&mut steps);
        largest.abs().store(&mut magnitudes);
        for (lane, out) in out.chunks_exact_mut(210).enumerate() {
            if magnitudes[lane] < NOTHING {
                out.fill(0);
            } else {
                let scales = core::array::from_fn(|sub| codes[sub][lane]);
                let factors = core::array::from_fn(|sub| factors[sub][lane]);
                write_block(isa, batch.values[lane], steps[lane], &scales, &factors, out);
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "-128 to 127")]
fn write_block<I: Isa>(isa: I, values: &[f32], step: f32, scales: &[f32; 16], factors: &[f32; 16], out: &mut [u8]) {
    let (step_bytes, step) = half(step);
    let mut codes = [0; 256];
    for (sub, (values, codes)) in values.as_chunks().0.iter().zip(codes.as_chunks_mut().0).enumerate() {
        let scale = step * scales[sub];
        if scale == 0.0 {
            chosen(values, factors[sub], 0.0, -32, 31, codes);
        } else {
            *codes = isa.codes(values, 0.0, scale, -32, 31);
        }
    }
    let (low, rest) = out.split_at_mut(128);
    let (high, rest) = rest.split_at_mut(64);
    let (out_scales, out_step) = rest.split_at_mut(16);
    let halves = low.as_chunks_mut::<64>().0.iter_mut().zip(high.as_chunks_mut::<32>().0);
    for (codes, (low, high)) in codes.as_chunks::<128>().0.iter().zip(halves) {
        for i in 0..32 {
            let [a, b, c, d] = [codes[i], codes[i + 32], codes[i + 64], codes[i + 96]];
            low[i] = a & 15 | c << 4;
            low[i + 32] = b & 15 | d << 4;
            high[i] = a >> 4 | b >> 4 << 2 | c >> 4 << 4 | d >> 4 << 6;
        }
    }
    for (out, scale) in out_scales.iter_mut().zip(scales) {
        *out = (*scale as i8).cast_unsigned();
    }
    out_step.copy_from_slice(&step_bytes);
}
