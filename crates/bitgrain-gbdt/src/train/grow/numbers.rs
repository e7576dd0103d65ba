//! What gradients are kept and added as while a tree is grown: one type for each precision.

use bitgrain_kernels::{CodeSum, GradientPair, Pair4, Pair8, PairF32};
use rayon::prelude::*;

use crate::gradient::{Codes, GradientPrecision, Steps};

/// Places that one thread fills at a time.
const CHUNK: usize = 4096;

/// A precision: how a row carries its gradient, and what histograms add up.
pub(crate) trait Numbers: Send + Sync {
    /// What a row carries.
    type Pair: GradientPair<Cell = Self::Cell> + Send + Sync;
    /// What the inner loop adds to.
    type Cell: Copy + Default + Send + Sync;
    /// What a histogram keeps.
    type Sum: Sum;
    /// Rows after which cells are moved to sums, because they would overflow or lose digits.
    const ROWS_PER_FLUSH: usize;

    /// Its name.
    const PRECISION: GradientPrecision;
    /// Whether sums are of gradients as they are.
    const EXACT: bool;
    /// Whether rounding to nearest would do harm.
    const ALWAYS_STOCHASTIC: bool;

    /// A pair of nothing.
    fn none() -> Self::Pair;

    /// The largest codes whose sums over so many rows can be told apart.
    fn codes(n_rows: usize) -> Codes;

    /// What the row at each place carries.
    fn carry(steps: &Steps, exact: &[PairF32], order: &[u32], out: &mut [Self::Pair]);

    /// Adds a cell to a sum.
    fn flush(cell: Self::Cell, sum: &mut Self::Sum);
}

/// Sums of gradients and hessians.
pub(crate) trait Sum: Copy + Default + Send + Sync + PartialEq {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Gradient and hessian, in units of their steps.
    fn parts(self) -> (f64, f64);
}

impl Sum for CodeSum {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "both are below 2^32")]
    fn parts(self) -> (f64, f64) {
        (self.grad() as f64, self.hess() as f64)
    }
}

/// Sums of floats.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct FloatSum {
    grad: f64,
    hess: f64,
}

impl Sum for FloatSum {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self { grad: self.grad + other.grad, hess: self.hess + other.hess }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self { grad: self.grad - other.grad, hess: self.hess - other.hess }
    }

    #[inline(always)]
    fn parts(self) -> (f64, f64) {
        (self.grad, self.hess)
    }
}

/// Codes of 8 bits.
pub(crate) struct Codes8;
/// Codes of 4 bits.
pub(crate) struct Codes4;
/// Floats.
pub(crate) struct Floats;

impl Numbers for Codes8 {
    type Pair = Pair8;
    type Cell = CodeSum;
    type Sum = CodeSum;
    const ROWS_PER_FLUSH: usize = usize::MAX;
    const PRECISION: GradientPrecision = GradientPrecision::Pair8;
    const EXACT: bool = false;
    const ALWAYS_STOCHASTIC: bool = false;

    fn none() -> Pair8 {
        Pair8::default()
    }

    fn codes(n_rows: usize) -> Codes {
        Codes::PAIR8.for_rows(n_rows)
    }

    fn carry(steps: &Steps, exact: &[PairF32], order: &[u32], out: &mut [Pair8]) {
        rounded(steps, exact, order, out, |codes, out| out.copy_from_slice(codes));
    }

    #[inline(always)]
    fn flush(cell: CodeSum, sum: &mut CodeSum) {
        *sum = sum.plus(cell);
    }
}

impl Numbers for Codes4 {
    type Pair = Pair4;
    type Cell = CodeSum;
    type Sum = CodeSum;
    const ROWS_PER_FLUSH: usize = usize::MAX;
    const PRECISION: GradientPrecision = GradientPrecision::Pair4;
    const EXACT: bool = false;
    const ALWAYS_STOCHASTIC: bool = true;

    fn none() -> Pair4 {
        Pair4::default()
    }

    fn codes(n_rows: usize) -> Codes {
        Codes::PAIR4.for_rows(n_rows)
    }

    fn carry(steps: &Steps, exact: &[PairF32], order: &[u32], out: &mut [Pair4]) {
        rounded(steps, exact, order, out, |codes, out| {
            codes.iter().zip(out).for_each(|(codes, out)| *out = Pair4::new(codes.grad, codes.hess));
        });
    }

    #[inline(always)]
    fn flush(cell: CodeSum, sum: &mut CodeSum) {
        *sum = sum.plus(cell);
    }
}

impl Numbers for Floats {
    type Pair = PairF32;
    type Cell = PairF32;
    type Sum = FloatSum;
    /// Sums of so many floats of one sign keep 17 of 24 digits on average.
    const ROWS_PER_FLUSH: usize = 8192;
    const PRECISION: GradientPrecision = GradientPrecision::F32;
    const EXACT: bool = true;
    const ALWAYS_STOCHASTIC: bool = false;

    fn none() -> PairF32 {
        PairF32::default()
    }

    fn codes(_n_rows: usize) -> Codes {
        Codes::NONE
    }

    fn carry(_steps: &Steps, exact: &[PairF32], order: &[u32], out: &mut [PairF32]) {
        out.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(out, order)| {
            out.iter_mut().zip(order).for_each(|(out, &row)| *out = exact[row as usize]);
        });
    }

    #[inline(always)]
    fn flush(cell: PairF32, sum: &mut FloatSum) {
        sum.grad += f64::from(cell.grad);
        sum.hess += f64::from(cell.hess);
    }
}

/// Codes of the gradients in the order of places, handed out a chunk at a time.
fn rounded<P: Send>(
    steps: &Steps,
    exact: &[PairF32],
    order: &[u32],
    out: &mut [P],
    write: impl Fn(&[Pair8], &mut [P]) + Sync,
) {
    out.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).enumerate().for_each(|(chunk, (out, order))| {
        let (mut grads, mut hess) = ([0.0; CHUNK], [0.0; CHUNK]);
        for ((grad, hess), &row) in grads.iter_mut().zip(&mut hess).zip(order) {
            let pair = exact[row as usize];
            (*grad, *hess) = (pair.grad, pair.hess);
        }
        let mut codes = [Pair8::default(); CHUNK];
        let codes = &mut codes[..out.len()];
        steps.round(&grads, &hess, chunk * CHUNK, codes);
        write(codes, out);
    });
}
