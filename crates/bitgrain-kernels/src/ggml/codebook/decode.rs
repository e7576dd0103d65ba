//! Decoding of all codebook formats.

use super::CodebookBlock;
use super::grid::{octet, odd_quadruple, quadruple, signs, trits};
use super::pairs::{IQ2_S, IQ2_XS, IQ2_XXS};
use super::triples::{IQ3_S, IQ3_XXS};
use super::trits::IQ1;
use crate::ggml::layout::iq4_nl::TABLE as LEVELS;
use crate::ggml::layout::mxfp4::TABLE as FP4;
use crate::ggml::layout::part;
use crate::scalar::f32_of;

/// Offset of the weights of IQ1.
const DELTA: f32 = 0.125;

/// Decodes blocks; `bytes` and `out` hold the same number of whole blocks.
pub(super) fn decode(block: CodebookBlock, bytes: &[u8], out: &mut [f32]) {
    let decode = match block {
        CodebookBlock::IQ1_S => iq1_s,
        CodebookBlock::IQ1_M => iq1_m,
        CodebookBlock::IQ2_XXS => iq2_xxs,
        CodebookBlock::IQ2_XS => iq2_xs,
        CodebookBlock::IQ2_S => iq2_s,
        CodebookBlock::IQ3_XXS => iq3_xxs,
        CodebookBlock::IQ3_S => iq3_s,
        CodebookBlock::IQ4_XS => iq4_xs,
        CodebookBlock::NVFP4 => nvfp4,
        CodebookBlock::Q1_0 => q1_0,
        CodebookBlock::Q2_0 => q2_0,
    };
    for (bytes, out) in bytes.chunks_exact(block.bytes()).zip(out.chunks_exact_mut(block.weights())) {
        decode(bytes, out);
    }
}

fn half(bytes: &[u8], at: usize) -> f32 {
    f32_of(word(bytes, at))
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(*part(bytes, at))
}

/// Writes weights times a scale with these signs.
fn put<const N: usize>(out: &mut [f32], scale: f32, weights: [f32; N], signs: u8) {
    for (i, (out, weight)) in out.iter_mut().zip(weights).enumerate() {
        let sign = if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
        *out = scale * weight * sign;
    }
}

fn iq2_xxs(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let codes: &[u8; 4] = part(bytes, 2 + 8 * group);
        let rest = u32::from_le_bytes(*part(bytes, 6 + 8 * group));
        let scale = scale * (0.5 + nibble(rest >> 28)) * 0.25;
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            put(out, scale, octet(IQ2_XXS[usize::from(codes[l])]), signs(low(rest >> (7 * l))));
        }
    }
}

fn iq2_xs(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let scales = pair(bytes[66 + group]).map(|code| scale * (0.5 + code) * 0.25);
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let code = word(bytes, 2 + 8 * group + 2 * l);
            put(out, scales[l / 2], octet(IQ2_XS[usize::from(code & 511)]), signs(low(u32::from(code >> 9))));
        }
    }
}

fn iq2_s(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let scales = pair(bytes[74 + group]).map(|code| scale * (0.5 + code) * 0.25);
        let high = u16::from(bytes[66 + group]);
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let code = u16::from(bytes[2 + 4 * group + l]) | high << (8 - 2 * l) & 0x300;
            put(out, scales[l / 2], octet(IQ2_S[usize::from(code)]), bytes[34 + 4 * group + l]);
        }
    }
}

fn iq3_xxs(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let rest = u32::from_le_bytes(*part(bytes, 66 + 4 * group));
        let scale = scale * (0.5 + nibble(rest >> 28)) * 0.5;
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let signs = signs(low(rest >> (7 * l)));
            for (k, out) in out.chunks_exact_mut(4).enumerate() {
                let code = bytes[2 + 8 * group + 2 * l + k];
                put(out, scale, quadruple(IQ3_XXS[usize::from(code)]), signs >> (4 * k));
            }
        }
    }
}

fn iq3_s(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let scale = scale * (1.0 + 2.0 * pair(bytes[106 + group / 2])[group % 2]);
        let high = u16::from(bytes[66 + group]);
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let signs = bytes[74 + 4 * group + l];
            for (k, out) in out.chunks_exact_mut(4).enumerate() {
                let code = u16::from(bytes[2 + 8 * group + 2 * l + k]) | high << (8 - 2 * l - k) & 0x100;
                put(out, scale, odd_quadruple(IQ3_S[usize::from(code)]), signs >> (4 * k));
            }
        }
    }
}

fn iq1_s(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let high = word(bytes, 34 + 2 * group);
        let scale = scale * f32::from(2 * (high >> 12 & 7) + 1);
        let delta = if high & 0x8000 == 0 { DELTA } else { -DELTA };
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let code = u16::from(bytes[2 + 4 * group + l]) | (high >> (3 * l) & 7) << 8;
            shifted(out, scale, trits(IQ1[usize::from(code)]), delta);
        }
    }
}

fn iq1_m(bytes: &[u8], out: &mut [f32]) {
    let scales: [u16; 4] = core::array::from_fn(|i| word(bytes, 48 + 2 * i));
    let nibbles = scales.iter().enumerate().map(|(i, scale)| scale >> 12 << (4 * i));
    let scale = f32_of(nibbles.fold(0, |all, nibble| all | nibble));
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let packed = scales[group / 2] >> (6 * (group % 2));
        for (l, out) in out.chunks_exact_mut(8).enumerate() {
            let scale = scale * f32::from(2 * (packed >> (3 * (l / 2)) & 7) + 1);
            let high = u16::from(bytes[32 + 2 * group + l / 2] >> (4 * (l % 2)));
            let code = u16::from(bytes[4 * group + l]) | (high & 7) << 8;
            let delta = if high & 8 == 0 { DELTA } else { -DELTA };
            shifted(out, scale, trits(IQ1[usize::from(code)]), delta);
        }
    }
}

/// Writes weights plus an offset, times a scale.
fn shifted(out: &mut [f32], scale: f32, weights: [f32; 8], delta: f32) {
    out.iter_mut().zip(weights).for_each(|(out, weight)| *out = scale * (weight + delta));
}

fn iq4_xs(bytes: &[u8], out: &mut [f32]) {
    let (scale, high) = (half(bytes, 0), word(bytes, 2));
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let low = pair(bytes[4 + group / 2])[group % 2];
        let scale = scale * (low + f32::from((high >> (2 * group) & 3) << 4) - 32.0);
        for i in 0..16 {
            let both = bytes[8 + 16 * group + i];
            out[i] = scale * f32::from(LEVELS[usize::from(both & 15)]);
            out[16 + i] = scale * f32::from(LEVELS[usize::from(both >> 4)]);
        }
    }
}

fn nvfp4(bytes: &[u8], out: &mut [f32]) {
    for (group, out) in out.chunks_exact_mut(16).enumerate() {
        let scale = unsigned_e4m3(bytes[group]);
        for i in 0..8 {
            let both = bytes[4 + 8 * group + i];
            out[i] = f32::from(FP4[usize::from(both & 15)]) * scale;
            out[8 + i] = f32::from(FP4[usize::from(both >> 4)]) * scale;
        }
    }
}

/// Returns half the value of an FP8 number without a sign, because the table of FP4 holds doubled values.
fn unsigned_e4m3(code: u8) -> f32 {
    let (exponent, mantissa) = (u32::from(code >> 3 & 15), u32::from(code & 7));
    match (code, exponent) {
        (0 | 0x7F, _) => 0.0,
        // A multiple of 2^-9, halved.
        (_, 0) => f32::from(code & 7) / 1024.0,
        _ => f32::from_bits((exponent + 119) << 23 | mantissa << 20),
    }
}

fn q1_0(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (i, out) in out.iter_mut().enumerate() {
        *out = if bytes[2 + i / 8] >> (i % 8) & 1 == 1 { scale } else { -scale };
    }
}

fn q2_0(bytes: &[u8], out: &mut [f32]) {
    let scale = half(bytes, 0);
    for (i, out) in out.iter_mut().enumerate() {
        *out = (f32::from(bytes[2 + i / 4] >> (2 * (i % 4)) & 3) - 1.0) * scale;
    }
}

/// Returns the two 4-bit numbers of a byte.
fn pair(byte: u8) -> [f32; 2] {
    [byte & 15, byte >> 4].map(f32::from)
}

fn nibble(value: u32) -> f32 {
    f32::from(low(value & 15))
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
const fn low(value: u32) -> u8 {
    value as u8
}
