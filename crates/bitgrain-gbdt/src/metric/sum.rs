//! Sums over rows, in an order that does not depend on the number of threads.

use rayon::prelude::*;

/// Number of rows per partial sum. Partial sums are added in order.
const CHUNK: usize = 8192;

/// Sums `terms` over all rows.
pub(crate) fn sums<const N: usize>(rows: usize, terms: impl Fn(usize) -> [f64; N] + Sync) -> [f64; N] {
    let add = |mut sums: [f64; N], terms: [f64; N]| {
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += term;
        }
        sums
    };
    let chunk = |at: usize| (at * CHUNK..rows.min((at + 1) * CHUNK)).map(&terms).fold([0.0; N], add);
    let chunks: Vec<_> = (0..rows.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    chunks.into_iter().fold([0.0; N], add)
}
