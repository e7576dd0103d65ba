//! Products of f32 matrices, row by row: forward, and the two that gradients need.
//!
//! Every number of a result is summed by one thread in one order, so results do not depend on how many there are.

use rayon::prelude::*;

/// Multiplications below which a second thread costs more than it brings.
const ALONE: usize = 1 << 16;

/// `out = x · wᵀ`: `n` rows of `k` against the rows of `w`, which are `out`'s columns.
pub(crate) fn rows_by_rows(x: &[f32], w: &[f32], k: usize, out: &mut [f32]) {
    let (m, n) = (w.len() / k.max(1), x.len() / k.max(1));
    let row = |(x, out): (&[f32], &mut [f32])| {
        for (w, out) in w.chunks_exact(k).zip(out) {
            *out = dot(x, w);
        }
    };
    if n * m * k < ALONE {
        x.chunks_exact(k).zip(out.chunks_exact_mut(m)).for_each(row);
    } else {
        x.par_chunks_exact(k).zip(out.par_chunks_exact_mut(m)).for_each(row);
    }
}

/// `out += y · w`: rows of `m` against the `m` rows of `w`, each of `k`.
pub(crate) fn rows_by_columns(y: &[f32], w: &[f32], k: usize, out: &mut [f32]) {
    let m = w.len() / k.max(1);
    let row = |(y, out): (&[f32], &mut [f32])| {
        for (factor, w) in y.iter().zip(w.chunks_exact(k)) {
            add_scaled(*factor, w, out);
        }
    };
    if y.len() * k < ALONE {
        y.chunks_exact(m).zip(out.chunks_exact_mut(k)).for_each(row);
    } else {
        y.par_chunks_exact(m).zip(out.par_chunks_exact_mut(k)).for_each(row);
    }
}

/// `out += yᵀ · x`: `m` columns of `y` against `k` columns of `x`, over their common rows.
pub(crate) fn columns_by_columns(y: &[f32], x: &[f32], m: usize, k: usize, out: &mut [f32]) {
    let column = |(i, out): (usize, &mut [f32])| {
        for (y, x) in y.chunks_exact(m).zip(x.chunks_exact(k)) {
            add_scaled(y[i], x, out);
        }
    };
    if y.len() * k < ALONE {
        out.chunks_exact_mut(k).enumerate().for_each(column);
    } else {
        out.par_chunks_exact_mut(k).enumerate().for_each(column);
    }
}

/// `out += factor · x`.
pub(crate) fn add_scaled(factor: f32, x: &[f32], out: &mut [f32]) {
    if factor != 0.0 {
        out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
    }
}

/// The sum of products, in eight partial sums.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
