//! Q4_K: 8 sub-blocks of 32 weights, 4-bit codes, 6-bit scales and minima. Spec: `spec/ggml.md`.

use super::affine_k::AffineFormat;
use super::fit::Plan;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes};

pub(crate) struct Q4K;

impl AffineFormat for Q4K {
    const BLOCK: GgmlBlock = GgmlBlock::Q4_K;
    const SUB: usize = 32;
    const SCALE_TOP: f32 = 63.0;
    const SCALE_CUT: [f32; 2] = [63.0, 255.0];
    const PLANS: [Plan; 2] = [
        Plan { top: 15.0, from: -1.0, by: 0.1, steps: 20, absolute: false, ascending: false },
        Plan { top: 15.0, from: -0.9, by: 0.05, steps: 36, absolute: false, ascending: true },
    ];
    const VARIANCES: f32 = 2.0;

    #[inline(always)]
    fn weights<I: Isa>(isa: I, x: &[I::F], weights: &mut [I::F]) {
        weights_of_mean(isa, x, weights);
    }

    #[inline(always)]
    fn pack_scales(scales: &[u8; 16], minima: &[u8; 16]) -> [u8; 16] {
        pack_sixes(scales, minima)
    }

    #[inline(always)]
    fn unpack_scale(packed: &[u8; 16], sub: usize) -> (u8, u8) {
        unpack_six(packed, sub)
    }

    #[inline(always)]
    fn write(scale: [u8; 2], min: [u8; 2], scales: &[u8; 16], codes: &[u8; 256], out: &mut [u8]) {
        let (steps, rest) = out.split_at_mut(4);
        let (out_scales, out_codes) = rest.split_at_mut(12);
        steps[..2].copy_from_slice(&scale);
        steps[2..].copy_from_slice(&min);
        out_scales.copy_from_slice(&scales[..12]);
        for (codes, out) in codes.as_chunks::<64>().0.iter().zip(out_codes.as_chunks_mut::<32>().0) {
            for (i, out) in out.iter_mut().enumerate() {
                *out = codes[i] | codes[i + 32] << 4;
            }
        }
    }
}

/// Computes weights of errors: the root mean square plus the magnitude.
#[inline(always)]
pub(super) fn weights_of_mean<I: Isa>(isa: I, x: &[I::F], weights: &mut [I::F]) {
    let mut sum = isa.splat(0.0);
    for &x in x {
        sum = sum + x * x;
    }
    let mean = (sum / isa.splat(32.0)).sqrt();
    for (weight, x) in weights.iter_mut().zip(x) {
        *weight = mean + x.abs();
    }
}

/// Packs eight 6-bit scales and eight 6-bit minima into 12 bytes: low bits of the second four next to each other, high
/// bits on top of the first four.
#[inline(always)]
pub(super) fn pack_sixes(scales: &[u8; 16], minima: &[u8; 16]) -> [u8; 16] {
    let mut packed = [0; 16];
    for i in 0..4 {
        packed[i] = scales[i] | scales[i + 4] >> 4 << 6;
        packed[i + 4] = minima[i] | minima[i + 4] >> 4 << 6;
        packed[i + 8] = scales[i + 4] & 15 | minima[i + 4] << 4;
    }
    packed
}

/// Returns scale and minimum of a sub-block, packed by [`pack_sixes`].
#[inline(always)]
pub(super) fn unpack_six(packed: &[u8; 16], sub: usize) -> (u8, u8) {
    if sub < 4 {
        (packed[sub] & 63, packed[sub + 4] & 63)
    } else {
        (packed[sub + 4] & 15 | packed[sub - 4] >> 6 << 4, packed[sub + 4] >> 4 | packed[sub] >> 6 << 4)
    }
}
