//! Q2_K: 16 sub-blocks of 16 weights, 2-bit codes, 4-bit scales and minima. Spec: `spec/ggml.md`.

use super::affine_k::AffineFormat;
use super::fit::Plan;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes};

pub(crate) struct Q2K;

impl AffineFormat for Q2K {
    const BLOCK: GgmlBlock = GgmlBlock::Q2_K;
    const SUB: usize = 16;
    const SCALE_TOP: f32 = 15.0;
    const SCALE_CUT: [f32; 2] = [255.0; 2];
    const PLANS: [Plan; 2] = [
        Plan { top: 3.0, from: -0.5, by: 0.1, steps: 15, absolute: true, ascending: false },
        Plan { top: 3.0, from: -0.9, by: 0.05, steps: 36, absolute: false, ascending: true },
    ];
    const VARIANCES: f32 = 1.0;

    #[inline(always)]
    fn weights<I: Isa>(_: I, x: &[I::F], weights: &mut [I::F]) {
        for (weight, x) in weights.iter_mut().zip(x) {
            *weight = x.abs();
        }
    }

    #[inline(always)]
    fn pack_scales(scales: &[u8; 16], minima: &[u8; 16]) -> [u8; 16] {
        core::array::from_fn(|sub| scales[sub] | minima[sub] << 4)
    }

    #[inline(always)]
    fn unpack_scale(packed: &[u8; 16], sub: usize) -> (u8, u8) {
        (packed[sub] & 15, packed[sub] >> 4)
    }

    #[inline(always)]
    fn write(scale: [u8; 2], min: [u8; 2], scales: &[u8; 16], codes: &[u8; 256], out: &mut [u8]) {
        let (out_scales, rest) = out.split_at_mut(16);
        let (out_codes, steps) = rest.split_at_mut(64);
        out_scales.copy_from_slice(scales);
        pack_pairs(codes, out_codes);
        steps[..2].copy_from_slice(&scale);
        steps[2..4].copy_from_slice(&min);
    }
}

/// Packs two bits of each code: byte `i` of each half holds codes `i`, `i + 32`, `i + 64` and `i + 96`.
#[inline(always)]
pub(super) fn pack_pairs(codes: &[u8; 256], out: &mut [u8]) {
    for (codes, out) in codes.as_chunks::<128>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = codes[i] | codes[i + 32] << 2 | codes[i + 64] << 4 | codes[i + 96] << 6;
        }
    }
}
