//! Products of f32 matrices of matching shapes: the forward product, and the two that gradients need.

use crate::network::product::{ProductShape, multiply_back_f32, multiply_f32, multiply_outer_f32};
use crate::network::weights::WeightsError;

/// Number of multiplications below which packing the operands costs more than a plain loop.
const FEW: usize = 1 << 10;

/// Computes `out = x · wᵀ` with rows of length `k` in `x` and `w`.
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

/// Computes `out = y · w` with `m` columns in `y` and `m` rows of length `k` in `w`.
pub(crate) fn rows_by_columns(y: &[f32], w: &[f32], k: usize, out: &mut [f32]) {
    let rows = w.len() / k;
    fits(multiply_back_f32(y, w, ProductShape { batch: y.len() / rows, rows, cols: k }, out));
}

/// Computes `out += yᵀ · x` with `m` columns in `y`, `k` columns in `x`, and the same number of rows.
pub(crate) fn columns_by_columns(y: &[f32], x: &[f32], m: usize, k: usize, out: &mut [f32]) {
    let mut sums = vec![0.0; m * k];
    fits(multiply_outer_f32(y, x, ProductShape { batch: y.len() / m, rows: m, cols: k }, &mut sums));
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
}

/// Computes `out += factor · x`.
pub(crate) fn add_scaled(factor: f32, x: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

/// Unwraps a product. Building the network checked all shapes, and products of plain floats have no other errors.
fn fits(product: Result<(), WeightsError>) {
    product.expect("shapes were checked when the network was built");
}
