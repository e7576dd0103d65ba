//! Quantization to IQ4_XS: eight groups with the levels of IQ4_NL and 6-bit scales.

use crate::ggml::layout::put_half;
use crate::ggml::scale_search::levels::{LEVELS, nearest, nearest_level_code};
use crate::scalar::sqrt;

/// Magnitude below which a group counts as zeros.
const EPSILON: f32 = 1e-15;

/// Encodes a block.
pub(super) fn encode(values: &[f32; 256], importance: Option<&[f32; 256]>, out: &mut [u8]) {
    let mut squares = 0.0;
    for x in values {
        squares += x * x;
    }
    let mean = squares * (2.0 / 256.0);
    let mut scales = [0.0_f32; 8];
    let (mut widest, mut largest) = (0.0_f32, 0.0);
    for (group, (values, scale)) in values.as_chunks::<32>().0.iter().zip(&mut scales).enumerate() {
        let mut weights = [0.0; 32];
        for (i, (weight, x)) in weights.iter_mut().zip(values).enumerate() {
            *weight = match importance {
                Some(importance) => importance[32 * group + i] * sqrt(mean + x * x),
                None => x * x,
            };
        }
        *scale = fit(values, &weights);
        if scale.abs() > widest {
            (widest, largest) = (scale.abs(), *scale);
        }
    }
    let scale = -largest / 32.0;
    let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
    let Some(out) = out.first_chunk_mut::<136>() else { return };
    out.fill(0);
    put_half(out, 0, scale);
    for (group, values) in values.as_chunks::<32>().0.iter().enumerate() {
        let code = nearest(inverse * scales[group]).clamp(-32, 31);
        #[expect(clippy::cast_precision_loss, reason = "at most 32")]
        let group_scale = scale * code as f32;
        let inverse = if group_scale == 0.0 { 0.0 } else { 1.0 / group_scale };
        let code = u8::try_from(code + 32).unwrap_or(0);
        out[4 + group / 2] |= (code & 15) << (4 * (group % 2));
        // Two high bits per group, in a little-endian word.
        out[2 + group / 4] |= (code >> 4) << (2 * (group % 4));
        for i in 0..16 {
            let codes = [values[i], values[16 + i]].map(|x| nearest_level_code(inverse * x));
            out[8 + 16 * group + i] = codes[0] | codes[1] << 4;
        }
    }
}

/// Finds the scale of a group: the best of sixteen candidates by weighted least squares.
fn fit(values: &[f32; 32], weights: &[f32; 32]) -> f32 {
    let (mut widest, mut extreme) = (0.0_f32, 0.0);
    for &x in values {
        if x.abs() > widest {
            (widest, extreme) = (x.abs(), x);
        }
    }
    if widest < EPSILON {
        return 0.0;
    }
    let sums = |factor: f32| {
        let (mut sum_xq, mut sum_q2) = (0.0, 0.0);
        for (&x, &w) in values.iter().zip(weights) {
            let q = LEVELS[usize::from(nearest_level_code(factor * x))];
            sum_xq += w * q * x;
            sum_q2 += w * q * q;
        }
        (sum_xq, sum_q2)
    };
    let (sum_xq, sum_q2) = sums(1.0 / (-extreme / LEVELS[0]));
    let mut scale = if sum_q2 > 0.0 { sum_xq / sum_q2 } else { 0.0 };
    let mut best = scale * sum_xq;
    for step in -7_i8..=7 {
        let (sum_xq, sum_q2) = sums((f32::from(step) + LEVELS[0]) / extreme);
        if sum_q2 > 0.0 && sum_xq * sum_xq > best * sum_q2 {
            scale = sum_xq / sum_q2;
            best = scale * sum_xq;
        }
    }
    scale
}
