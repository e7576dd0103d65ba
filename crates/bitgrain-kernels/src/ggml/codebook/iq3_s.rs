//! Quantization to IQ3_S: eight groups of eight quadruples, all signs stored.

use core::sync::atomic::{AtomicU16, AtomicU32};

use super::grid::IQ3_S_POINTS;
use super::neighbors::Neighbors;
use super::triples::IQ3_S;
use crate::ggml::layout::put_half;
use crate::ggml::scale_search::levels::nearest;
use crate::scalar::sqrt;

/// Codes of a weight.
const CODES: i32 = 8;

static PLACES: [AtomicU32; 4096] = [const { AtomicU32::new(0) }; 4096];
/// All lists together have 24,733 entries.
static POOL: [AtomicU16; 1 << 15] = [const { AtomicU16::new(0) }; 1 << 15];
static USED: AtomicU32 = AtomicU32::new(0);
static NEIGHBORS: Neighbors<4> =
    Neighbors { points: &IQ3_S_POINTS, bits: 3, distances: 3, places: &PLACES, pool: &POOL, used: &USED };

/// Encodes a block.
pub(super) fn encode(values: &[f32; 256], importance: Option<&[f32; 256]>, out: &mut [u8]) {
    let Some(out) = out.first_chunk_mut::<110>() else { return };
    out.fill(0);
    let mut squares = 0.0;
    for x in values {
        squares += x * x;
    }
    let mean = 2.0 * squares / 256.0;
    let (mut scales, mut largest) = ([0.0_f32; 8], 0.0_f32);
    for (group, values) in values.as_chunks::<32>().0.iter().enumerate() {
        let (mut weights, mut magnitudes, mut signs) = ([0.0; 32], [0.0; 32], [0_u8; 4]);
        for (i, &x) in values.iter().enumerate() {
            weights[i] = match importance {
                Some(importance) => importance[32 * group + i] * sqrt(mean + x * x),
                None => x * x,
            };
            magnitudes[i] = if x >= 0.0 { x } else { -x };
            signs[i / 8] |= u8::from(x < 0.0) << (i % 8);
        }
        let most = magnitudes.iter().fold(magnitudes[0], |most, &x| if x > most { x } else { most });
        if most == 0.0 {
            continue;
        }
        let (scale, codes) = fit(&magnitudes, &weights, most);
        if scale < 0.0 {
            signs = signs.map(|signs| !signs);
        }
        for (k, codes) in codes.as_chunks::<4>().0.iter().enumerate() {
            let index = IQ3_S.binary_search(&key(codes)).unwrap_or(0);
            out[2 + 8 * group + k] = low(index);
            out[66 + group] |= low(index >> 8) << k;
        }
        out[74 + 4 * group..][..4].copy_from_slice(&signs);
        scales[group] = scale.abs();
        largest = if scales[group] > largest { scales[group] } else { largest };
    }
    if largest == 0.0 {
        return;
    }
    let scale = largest / 31.0;
    // The reference's correction of a bias that the search has.
    put_half(out, 0, scale * 1.033);
    let inverse = 1.0 / scale;
    for (group, scale) in scales.iter().enumerate() {
        let code = nearest(0.5 * (inverse * scale - 1.0)).clamp(0, 15);
        out[106 + group / 2] |= u8::try_from(code).unwrap_or(0) << (4 * (group % 2));
    }
}

/// Finds scale and codes of a group: the best of nineteen candidates by weighted least squares, with every quadruple in
/// the codebook.
fn fit(magnitudes: &[f32; 32], weights: &[f32; 32], most: f32) -> (f32, [u8; 32]) {
    let roots = weights.map(sqrt);
    let top = 15.0;
    let (mut best, mut scale, mut codes) = (0.0, most / top, [0; 32]);
    let mut complete = false;
    for step in -9_i8..=9 {
        let factor = (top + f32::from(step) * 0.2) / most;
        let (here, on_grid) = rounded(magnitudes, &roots, factor, 1.0 / factor);
        let (sum_xq, sum_q2) = sums(magnitudes, weights, &here);
        if sum_q2 > 0.0 && sum_xq * sum_xq > best * sum_q2 {
            scale = sum_xq / sum_q2;
            best = scale * sum_xq;
            (codes, complete) = (here, on_grid);
        }
    }
    if !complete && scale > 0.0 {
        (codes, _) = rounded(magnitudes, &roots, 1.0 / scale, scale);
        let (sum_xq, sum_q2) = sums(magnitudes, weights, &codes);
        if sum_q2 > 0.0 {
            scale = sum_xq / sum_q2;
        }
    }
    (scale, codes)
}

/// Rounds a group to the codebook. Returns whether every quadruple was in it without a search.
fn rounded(magnitudes: &[f32; 32], roots: &[f32; 32], factor: f32, scale: f32) -> ([u8; 32], bool) {
    let (mut codes, mut on_grid) = ([0; 32], true);
    for (k, codes) in codes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let values = &magnitudes[4 * k..][..4];
        for (code, x) in codes.iter_mut().zip(values) {
            *code = u8::try_from(nearest(0.5 * (factor * x - 1.0)).clamp(0, CODES - 1)).unwrap_or(0);
        }
        let key = key(codes);
        if IQ3_S.binary_search(&key).is_err() {
            on_grid = false;
            let index = NEIGHBORS.nearest(usize::from(key), values, &roots[4 * k..][..4], scale);
            *codes = IQ3_S_POINTS[index].map(|point| (point - 1) / 2);
        }
    }
    (codes, on_grid)
}

fn sums(magnitudes: &[f32; 32], weights: &[f32; 32], codes: &[u8; 32]) -> (f32, f32) {
    let (mut sum_xq, mut sum_q2) = (0.0, 0.0);
    for ((&x, &w), &code) in magnitudes.iter().zip(weights).zip(codes) {
        let q = f32::from(2 * code + 1);
        sum_xq += w * x * q;
        sum_q2 += w * q * q;
    }
    (sum_xq, sum_q2)
}

fn key(codes: &[u8; 4]) -> u16 {
    codes.iter().enumerate().fold(0, |key, (i, code)| key | u16::from(*code) << (3 * i))
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
const fn low(index: usize) -> u8 {
    index as u8
}
