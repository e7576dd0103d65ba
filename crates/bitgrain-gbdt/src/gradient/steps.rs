//! Step sizes of quantized gradients and hessians.

use bitgrain_kernels::Backend;
use bitgrain_kernels::gradients::{PairSteps, round_pairs};
use bitgrain_kernels::histograms::Pair8;

/// Largest code of a gradient and of a hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Codes {
    grad: i8,
    hess: u8,
}

impl Codes {
    pub(crate) const PAIR8: Self = Self { grad: 127, hess: 255 };
    pub(crate) const PAIR4: Self = Self { grad: 7, hess: 15 };
    /// No quantization.
    pub(crate) const NONE: Self = Self { grad: 0, hess: 0 };

    /// Largest gradient and hessian code.
    pub(crate) fn largest(self) -> (u64, u64) {
        (u64::from(self.grad.unsigned_abs()), u64::from(self.hess))
    }

    /// Reduces the codes so that integer sums over `n_rows` rows fit 32 bits.
    pub(crate) fn for_rows(self, n_rows: usize) -> Self {
        let fits = |most: usize| most / n_rows.max(1);
        let (grad, hess) = (fits(i32::MAX as usize), fits(u32::MAX as usize));
        // A quotient above the range of a byte is not a limit.
        Self {
            grad: i8::try_from(grad).map_or(self.grad, |most| self.grad.min(most.max(1))),
            hess: u8::try_from(hess).map_or(self.hess, |most| self.hess.min(most.max(1))),
        }
    }
}

/// Step sizes that map gradients and hessians to codes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steps {
    kernel: PairSteps,
    grad_step: f64,
    hess_step: f64,
}

impl Steps {
    /// Creates steps for the given maximum magnitudes. The step is 1 without quantization.
    pub(crate) fn new(codes: Codes, max_grad: f32, max_hess: f32, seed: Option<u32>) -> Self {
        let step = |max: f32, codes: f32| if codes == 0.0 { 1.0 } else { f64::from(max) / f64::from(codes) };
        let (grad_max, hess_max) = (f32::from(codes.grad), f32::from(codes.hess));
        // The maximum is 0 if all values are: every code is 0, and any step is correct.
        let per_unit = |max: f32, codes: f32| {
            let per_unit = codes / max;
            if per_unit.is_finite() { per_unit } else { 0.0 }
        };
        let kernel = PairSteps {
            grad_codes: per_unit(max_grad, grad_max),
            hess_codes: per_unit(max_hess, hess_max),
            grad_max: codes.grad,
            hess_max: codes.hess,
            seed,
            first_row: 0,
        };
        let real = |step: f64| if step > 0.0 { step } else { 1.0 };
        Self { kernel, grad_step: real(step(max_grad, grad_max)), hess_step: real(step(max_hess, hess_max)) }
    }

    /// Sets the number of rows before those of this process, which counts in the seeds of the rounding.
    #[must_use]
    pub(crate) fn after(mut self, rows: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "seeds use the row index modulo 2^32")]
        let first_row = rows as u32;
        self.kernel.first_row = first_row;
        self
    }

    /// Gradient value of code 1.
    pub(crate) fn grad_step(&self) -> f64 {
        self.grad_step
    }

    /// Hessian value of code 1.
    pub(crate) fn hess_step(&self) -> f64 {
        self.hess_step
    }

    /// Returns both steps rounded to f32.
    #[expect(clippy::cast_possible_truncation, reason = "the gradients themselves are f32")]
    pub(crate) fn rounded(&self) -> (f32, f32) {
        (self.grad_step as f32, self.hess_step as f32)
    }

    /// Quantizes gradients and hessians into `out`; `rows` are their row indices, which seed the rounding.
    pub(crate) fn round(&self, grads: &[f32], hess: &[f32], rows: &[u32], out: &mut [Pair8]) {
        let rounded = round_pairs(Backend::best(), &self.kernel, grads, hess, rows, out);
        debug_assert!(rounded.is_ok(), "{rounded:?}");
    }
}
