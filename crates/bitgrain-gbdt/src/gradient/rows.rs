//! Gradient arrays of each precision, which training encodes and permutes with the rows.

use bitgrain_kernels::histograms::{Pair4, Pair8, PairF32};

use super::steps::Steps;

/// Read access to gradients and hessians by row.
pub trait Gradients {
    /// Returns the stored gradient of a row, dequantized.
    fn grad(&self, row: usize) -> f32;
    /// Returns the stored hessian of a row, dequantized.
    fn hess(&self, row: usize) -> f32;
    /// Number of rows.
    fn len(&self) -> usize;
    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Gradient arrays that training encodes and permutes with the rows.
pub(crate) trait GradientRows: Gradients + Send + Sync {
    /// Gradient and hessian of a row.
    type Pair: Copy + Send + Sync;

    /// Creates gradients of `n_rows` rows, all 0.
    fn zeros(n_rows: usize) -> Self;

    /// Gradient pair of each row.
    fn pairs_mut(&mut self) -> &mut [Self::Pair];

    /// Sets the step sizes that pairs are encoded with.
    fn set_steps(&mut self, steps: &Steps);

    /// Encodes gradients and hessians into `out`; `rows` are their row indices, which seed the rounding.
    fn encode(steps: &Steps, rows: &[u32], grads: &[f32], hess: &[f32], out: &mut [Self::Pair]);
}

/// Unquantized gradients: eight bytes per row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsF32 {
    /// Gradient and hessian of each row.
    pub pairs: Box<[PairF32]>,
}

/// 8-bit gradients: two bytes per row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair8 {
    /// Codes of each row.
    pub codes: Box<[Pair8]>,
    /// Gradient value of code 1.
    pub grad_step: f32,
    /// Hessian value of code 1.
    pub hess_step: f32,
}

/// 4-bit gradients: one byte per row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair4 {
    /// Codes of each row.
    pub codes: Box<[Pair4]>,
    /// Gradient value of code 1.
    pub grad_step: f32,
    /// Hessian value of code 1.
    pub hess_step: f32,
}

impl Gradients for GradientsF32 {
    fn grad(&self, row: usize) -> f32 {
        self.pairs[row].grad
    }

    fn hess(&self, row: usize) -> f32 {
        self.pairs[row].hess
    }

    fn len(&self) -> usize {
        self.pairs.len()
    }
}

impl Gradients for GradientsPair8 {
    fn grad(&self, row: usize) -> f32 {
        f32::from(self.codes[row].grad) * self.grad_step
    }

    fn hess(&self, row: usize) -> f32 {
        f32::from(self.codes[row].hess) * self.hess_step
    }

    fn len(&self) -> usize {
        self.codes.len()
    }
}

impl Gradients for GradientsPair4 {
    fn grad(&self, row: usize) -> f32 {
        f32::from(self.codes[row].grad()) * self.grad_step
    }

    fn hess(&self, row: usize) -> f32 {
        f32::from(self.codes[row].hess()) * self.hess_step
    }

    fn len(&self) -> usize {
        self.codes.len()
    }
}

impl GradientRows for GradientsF32 {
    type Pair = PairF32;

    fn zeros(n_rows: usize) -> Self {
        Self { pairs: vec![PairF32::default(); n_rows].into() }
    }

    fn pairs_mut(&mut self) -> &mut [PairF32] {
        &mut self.pairs
    }

    fn set_steps(&mut self, _steps: &Steps) {}

    fn encode(_steps: &Steps, _rows: &[u32], grads: &[f32], hess: &[f32], out: &mut [PairF32]) {
        let pairs = grads.iter().zip(hess).map(|(&grad, &hess)| PairF32 { grad, hess });
        out.iter_mut().zip(pairs).for_each(|(out, pair)| *out = pair);
    }
}

impl GradientRows for GradientsPair8 {
    type Pair = Pair8;

    fn zeros(n_rows: usize) -> Self {
        Self { codes: vec![Pair8::default(); n_rows].into(), grad_step: 1.0, hess_step: 1.0 }
    }

    fn pairs_mut(&mut self) -> &mut [Pair8] {
        &mut self.codes
    }

    fn set_steps(&mut self, steps: &Steps) {
        (self.grad_step, self.hess_step) = steps.rounded();
    }

    fn encode(steps: &Steps, rows: &[u32], grads: &[f32], hess: &[f32], out: &mut [Pair8]) {
        steps.round(grads, hess, rows, out);
    }
}

impl GradientRows for GradientsPair4 {
    type Pair = Pair4;

    fn zeros(n_rows: usize) -> Self {
        Self { codes: vec![Pair4::default(); n_rows].into(), grad_step: 1.0, hess_step: 1.0 }
    }

    fn pairs_mut(&mut self) -> &mut [Pair4] {
        &mut self.codes
    }

    fn set_steps(&mut self, steps: &Steps) {
        (self.grad_step, self.hess_step) = steps.rounded();
    }

    fn encode(steps: &Steps, rows: &[u32], grads: &[f32], hess: &[f32], out: &mut [Pair4]) {
        // Convert in chunks, so that the intermediate 8-bit codes stay in L1.
        const SOME: usize = 256;
        let mut codes = [Pair8::default(); SOME];
        let inputs = grads.chunks(SOME).zip(hess.chunks(SOME)).zip(rows.chunks(SOME));
        for (((grads, hess), rows), out) in inputs.zip(out.chunks_mut(SOME)) {
            let codes = &mut codes[..out.len()];
            steps.round(grads, hess, rows, codes);
            codes.iter().zip(out).for_each(|(codes, out)| *out = Pair4::new(codes.grad, codes.hess));
        }
    }
}
