//! Q5_K: 8 sub-blocks of 32 weights, 5-bit codes, 6-bit scales and minima. Spec: `spec/ggml.md`.

use super::affine_k::AffineFormat;
use super::fit::Plan;
use super::q4_k::{pack_sixes, unpack_six, weights_of_mean};
use crate::ggml::GgmlBlock;
use crate::lanes::Isa;

pub(crate) struct Q5K;

impl AffineFormat for Q5K {
    const BLOCK: GgmlBlock = GgmlBlock::Q5_K;
    const SUB: usize = 32;
    const SCALE_TOP: f32 = 63.0;
    const SCALE_CUT: [f32; 2] = [63.0; 2];
    const PLANS: [Plan; 2] = [
        Plan { top: 31.0, from: -0.5, by: 0.1, steps: 15, absolute: false, ascending: false },
        Plan { top: 31.0, from: -0.9, by: 0.05, steps: 36, absolute: false, ascending: true },
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
        let (out_scales, rest) = rest.split_at_mut(12);
        let (fifth_bits, low_bits) = rest.split_at_mut(32);
        steps[..2].copy_from_slice(&scale);
        steps[2..].copy_from_slice(&min);
        out_scales.copy_from_slice(&scales[..12]);
        let mut fifths = [0; 32];
        for (pair, (codes, low)) in codes.as_chunks::<64>().0.iter().zip(low_bits.as_chunks_mut::<32>().0).enumerate() {
            for (i, low) in low.iter_mut().enumerate() {
                *low = codes[i] & 15 | codes[i + 32] << 4;
                fifths[i] |= (codes[i] >> 4 | codes[i + 32] >> 4 << 1) << (2 * pair);
            }
        }
        fifth_bits.copy_from_slice(&fifths);
    }
}
