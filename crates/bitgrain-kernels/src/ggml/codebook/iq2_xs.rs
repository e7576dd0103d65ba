//! Quantization to IQ2_XS: sixteen groups of two octets, each with an even number of negative signs.

use core::sync::atomic::{AtomicU16, AtomicU32};

use super::grid::IQ2_XS_POINTS;
use super::neighbors::Neighbors;
use super::pairs::IQ2_XS;
use crate::ggml::layout::put_half;
use crate::ggml::scale_search::levels::nearest;
use crate::scalar::sqrt;

/// Codes of a weight.
const CODES: i32 = 3;

/// Magnitude below which a group counts as zeros.
const EPSILON: f32 = 1e-15;

/// Keys of two bits per code: at most 2 in each of eight.
const KEYS: usize = 43_692;

static PLACES: [AtomicU32; KEYS] = [const { AtomicU32::new(0) }; KEYS];
/// All lists together have 508,542 entries.
static POOL: [AtomicU16; 1 << 19] = [const { AtomicU16::new(0) }; 1 << 19];
static USED: AtomicU32 = AtomicU32::new(0);
static NEIGHBORS: Neighbors<8> =
    Neighbors { points: &IQ2_XS_POINTS, bits: 2, distances: 2, places: &PLACES, pool: &POOL, used: &USED };

/// Encodes a block.
pub(super) fn encode(values: &[f32; 256], importance: &[f32; 256], out: &mut [u8]) {
    let Some(out) = out.first_chunk_mut::<74>() else { return };
    out.fill(0);
    let mut squares = 0.0;
    for x in values {
        squares += x * x;
    }
    let mean = squares / 256.0;
    let (mut scales, mut largest, mut words) = ([0.0_f32; 16], 0.0_f32, [0_u16; 32]);
    for (group, values) in values.as_chunks::<16>().0.iter().enumerate() {
        let mut weights = [0.0; 16];
        for (i, (weight, x)) in weights.iter_mut().zip(values).enumerate() {
            *weight = importance[16 * group + i] * sqrt(mean + x * x);
        }
        let (magnitudes, mut signs) = unsigned(values, &weights);
        let most = magnitudes.iter().fold(magnitudes[0], |most, &x| if x > most { x } else { most });
        if most < EPSILON {
            continue;
        }
        let (mut scale, codes) = fit(&magnitudes, &weights, most);
        if scale < 0.0 {
            scale = -scale;
            signs = signs.map(|signs| !signs & 127);
        }
        for (k, codes) in codes.as_chunks::<8>().0.iter().enumerate() {
            let index = IQ2_XS.binary_search(&key(codes)).unwrap_or(0);
            words[2 * group + k] = u16::try_from(index).unwrap_or(0) | u16::from(signs[k]) << 9;
        }
        scales[group] = scale;
        largest = if scale > largest { scale } else { largest };
    }
    if largest == 0.0 {
        return;
    }
    let scale = largest / 31.0;
    put_half(out, 0, scale);
    let inverse = 1.0 / scale;
    for (group, scale) in scales.iter().enumerate() {
        let code = nearest(0.5 * (inverse * scale - 1.0)).clamp(0, 15);
        out[66 + group / 2] |= u8::try_from(code).unwrap_or(0) << (4 * (group % 2));
    }
    for (bytes, word) in out[2..66].as_chunks_mut::<2>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

/// Separates signs from magnitudes. If an octet has an odd number of negative weights, the one that matters least keeps its
/// sign in the magnitude, because the format derives the eighth sign from the other seven.
fn unsigned(values: &[f32; 16], weights: &[f32; 16]) -> ([f32; 16], [u8; 2]) {
    let (mut magnitudes, mut signs) = ([0.0; 16], [0_u8; 2]);
    for (k, signs) in signs.iter_mut().enumerate() {
        let octet = 8 * k..8 * k + 8;
        for (i, at) in octet.clone().enumerate() {
            let x = values[at];
            magnitudes[at] = if x >= 0.0 { x } else { -x };
            *signs |= u8::from(x < 0.0) << i;
        }
        if signs.count_ones() % 2 == 1 {
            let cost = |at: usize| weights[at] * values[at] * values[at];
            let mut least = 8 * k;
            for at in octet.skip(1) {
                if cost(at) < cost(least) {
                    least = at;
                }
            }
            magnitudes[least] = -magnitudes[least];
            *signs ^= 1 << (least % 8);
        }
        *signs &= 127;
    }
    (magnitudes, signs)
}

/// Finds scale and codes of a group: the best of nineteen candidates by weighted least squares, with both octets in the
/// codebook.
fn fit(magnitudes: &[f32; 16], weights: &[f32; 16], most: f32) -> (f32, [u8; 16]) {
    let roots = weights.map(sqrt);
    let top = 5.0;
    let (mut best, mut scale, mut codes, mut on_grid) = (0.0, most / top, [0; 16], [true; 2]);
    for step in -9_i8..=9 {
        let factor = (top + f32::from(step) * 0.1) / most;
        let (mut here, mut here_on_grid) = ([0; 16], [true; 2]);
        for (k, on_grid) in here_on_grid.iter_mut().enumerate() {
            *on_grid = round(k, magnitudes, &roots, factor, 1.0 / factor, &mut here);
        }
        let (sum_xq, sum_q2) = sums(magnitudes, weights, &here);
        if sum_q2 > 0.0 && sum_xq * sum_xq > best * sum_q2 {
            scale = sum_xq / sum_q2;
            best = scale * sum_xq;
            (codes, on_grid) = (here, here_on_grid);
        }
    }
    if on_grid != [true; 2] && scale > 0.0 {
        for k in (0..2).filter(|k| !on_grid[*k]) {
            round(k, magnitudes, &roots, 1.0 / scale, scale, &mut codes);
        }
        let (sum_xq, sum_q2) = sums(magnitudes, weights, &codes);
        if sum_q2 > 0.0 {
            scale = sum_xq / sum_q2;
        }
    }
    (scale, codes)
}

/// Rounds octet `k` to the codebook. Returns whether it was in it without a search.
fn round(k: usize, magnitudes: &[f32; 16], roots: &[f32; 16], factor: f32, scale: f32, codes: &mut [u8; 16]) -> bool {
    let values = &magnitudes[8 * k..][..8];
    let codes = &mut codes.as_chunks_mut::<8>().0[k];
    for (code, x) in codes.iter_mut().zip(values) {
        *code = u8::try_from(nearest(0.5 * (factor * x - 1.0)).clamp(0, CODES - 1)).unwrap_or(0);
    }
    let key = key(codes);
    if IQ2_XS.binary_search(&key).is_ok() {
        return true;
    }
    let index = NEIGHBORS.nearest(usize::from(key), values, &roots[8 * k..][..8], scale);
    *codes = IQ2_XS_POINTS[index].map(|point| (point - 1) / 2);
    false
}

fn sums(magnitudes: &[f32; 16], weights: &[f32; 16], codes: &[u8; 16]) -> (f32, f32) {
    let (mut sum_xq, mut sum_q2) = (0.0, 0.0);
    for ((&x, &w), &code) in magnitudes.iter().zip(weights).zip(codes) {
        let q = f32::from(2 * code + 1);
        sum_xq += w * x * q;
        sum_q2 += w * q * q;
    }
    (sum_xq, sum_q2)
}

fn key(codes: &[u8; 8]) -> u16 {
    codes.iter().enumerate().fold(0, |key, (i, code)| key | u16::from(*code) << (2 * i))
}
