//! Products of f32 matrices whose sides are known to fit: forward, and the two that gradients need.

use crate::network::product::{ProductShape, multiply_back_f32, multiply_f32, multiply_outer_f32};
use crate::network::weights::WeightsError;

/// Multiplications below which preparing the operands takes longer than a plain loop.
const FEW: usize = 1 << 10;

/// `out = x · wᵀ`: rows of `k` against the rows of `w`, which are `out`'s columns.
pub(crate) fn rows_by_rows(x: &[f32], w: &[f32], k: usize, out: &mut [f32]) {
    let shape = ProductShape { batch: x.len() / k, rows: w.len() / k, cols: k };
    if x.len() * shape.rows >= FEW {
        return fits(multiply_f32(x, w, shape, out));
    }
    for (x, out) in x.chunks_exact(k).zip(out.chunks_exact_mut(shape.rows)) {
        for (w, out) in w.chunks_exact(k).zip(out) {
            *out = x.iter().zip(w).fold(0.0, |sum, (x, w)| x.mul_add(*w, sum));
        }
    }
}

/// `out = y · w`: rows of `m` against the `m` rows of `w`, each of `k`.
pub(crate) fn rows_by_columns(y: &[f32], w: &[f32], k: usize, out: &mut [f32]) {
    let rows = w.len() / k;
    fits(multiply_back_f32(y, w, ProductShape { batch: y.len() / rows, rows, cols: k }, out));
}

/// `out += yᵀ · x`: `m` columns of `y` against `k` columns of `x`, over their common rows.
pub(crate) fn columns_by_columns(y: &[f32], x: &[f32], m: usize, k: usize, out: &mut [f32]) {
    let mut sums = vec![0.0; m * k];
    fits(multiply_outer_f32(y, x, ProductShape { batch: y.len() / m, rows: m, cols: k }, &mut sums));
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
}

/// `out += factor · x`.
pub(crate) fn add_scaled(factor: f32, x: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

/// Layers are built with sides that fit, and nothing else goes wrong with plain numbers.
fn fits(product: Result<(), WeightsError>) {
    product.expect("sides that were checked when the network was built");
}
