//! `Numbers`: types of gradients and sums for each precision.

use crate::gradient::{Codes, GradientPrecision, GradientRows, GradientsF32, GradientsPair4, GradientsPair8};
use bitgrain_kernels::histograms::{CodeSum, GradientPair, Pair4, Pair8, PairF32};

/// Gradient precision: the type stored per row and the types that histograms accumulate.
pub(crate) trait Numbers: Send + Sync {
    /// Gradient pair of a row.
    type Pair: GradientPair<Cell = Self::Cell> + Send + Sync;
    /// Gradient array of all rows.
    type Rows: GradientRows<Pair = Self::Pair>;
    /// Accumulator of the inner loop.
    type Cell: Copy + Default + Send + Sync;
    /// Sum stored in a histogram.
    type Sum: Sum;
    /// Number of rows after which cells are flushed to sums, because they would overflow or lose precision.
    const ROWS_PER_FLUSH: usize;

    /// Corresponding public precision.
    const PRECISION: GradientPrecision;
    /// Whether gradients are not quantized.
    const EXACT: bool;
    /// Whether rounding to nearest would bias the sums too much.
    const ALWAYS_STOCHASTIC: bool;

    /// Returns the largest codes whose sums over `n_rows` rows do not overflow.
    fn codes(n_rows: usize) -> Codes;

    /// Adds a cell to a sum.
    fn flush(cell: Self::Cell, sum: &mut Self::Sum);
}

/// Sum of gradients and hessians.
pub(crate) trait Sum: Copy + Default + Send + Sync + PartialEq {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Returns gradient and hessian in units of their quantization steps.
    fn parts(self) -> (f64, f64);
    /// Returns the sum of codes, which is exact in any order; 0 for floats, which workers do not exchange.
    fn codes(self) -> CodeSum;
    /// Returns the sum of codes in this type.
    fn of_codes(sum: CodeSum) -> Self;
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
    #[expect(clippy::cast_precision_loss, reason = "both halves are below 2^32")]
    fn parts(self) -> (f64, f64) {
        (self.grad() as f64, self.hess() as f64)
    }

    fn codes(self) -> CodeSum {
        self
    }

    fn of_codes(sum: CodeSum) -> Self {
        sum
    }
}

/// Sum in f64.
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

    fn codes(self) -> CodeSum {
        CodeSum::default()
    }

    fn of_codes(_: CodeSum) -> Self {
        Self::default()
    }
}

/// 8-bit codes.
pub(crate) struct Codes8;
/// 4-bit codes.
pub(crate) struct Codes4;
/// Unquantized f32.
pub(crate) struct Floats;

impl Numbers for Codes8 {
    type Pair = Pair8;
    type Rows = GradientsPair8;
    type Cell = CodeSum;
    type Sum = CodeSum;
    const ROWS_PER_FLUSH: usize = usize::MAX;
    const PRECISION: GradientPrecision = GradientPrecision::Pair8;
    const EXACT: bool = false;
    const ALWAYS_STOCHASTIC: bool = false;

    fn codes(n_rows: usize) -> Codes {
        Codes::PAIR8.for_rows(n_rows)
    }

    #[inline(always)]
    fn flush(cell: CodeSum, sum: &mut CodeSum) {
        *sum = sum.plus(cell);
    }
}

impl Numbers for Codes4 {
    type Pair = Pair4;
    type Rows = GradientsPair4;
    type Cell = CodeSum;
    type Sum = CodeSum;
    const ROWS_PER_FLUSH: usize = usize::MAX;
    const PRECISION: GradientPrecision = GradientPrecision::Pair4;
    const EXACT: bool = false;
    const ALWAYS_STOCHASTIC: bool = true;

    fn codes(n_rows: usize) -> Codes {
        Codes::PAIR4.for_rows(n_rows)
    }

    #[inline(always)]
    fn flush(cell: CodeSum, sum: &mut CodeSum) {
        *sum = sum.plus(cell);
    }
}

impl Numbers for Floats {
    type Pair = PairF32;
    type Rows = GradientsF32;
    type Cell = PairF32;
    type Sum = FloatSum;
    /// An f32 sum of 8192 values of one sign keeps 17 of 24 bits on average.
    const ROWS_PER_FLUSH: usize = 8192;
    const PRECISION: GradientPrecision = GradientPrecision::F32;
    const EXACT: bool = true;
    const ALWAYS_STOCHASTIC: bool = false;

    fn codes(_n_rows: usize) -> Codes {
        Codes::NONE
    }

    #[inline(always)]
    fn flush(cell: PairF32, sum: &mut FloatSum) {
        sum.grad += f64::from(cell.grad);
        sum.hess += f64::from(cell.hess);
    }
}
