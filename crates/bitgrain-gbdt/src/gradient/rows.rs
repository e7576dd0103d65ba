//! Gradients of rows at each precision: what training writes, and moves with the rows.

use bitgrain_kernels::histograms::{Pair4, Pair8, PairF32};

use super::steps::Steps;

/// Gradients and hessians of some rows.
pub trait Gradients {
    /// The gradient of a row, as it is kept.
    fn grad(&self, row: usize) -> f32;
    /// The hessian of a row, as it is kept.
    fn hess(&self, row: usize) -> f32;
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Gradients that training writes and moves with their rows.
pub(crate) trait GradientRows: Gradients + Send + Sync {
    /// Gradient and hessian of a row.
    type Pair: Copy + Send + Sync;

    /// Gradients of so many rows, all 0.
    fn zeros(n_rows: usize) -> Self;

    /// The pair of each row.
    fn pairs_mut(&mut self) -> &mut [Self::Pair];

    /// Takes the steps that pairs are encoded with.
    fn set_steps(&mut self, steps: &Steps);

    /// Encodes as many gradients and hessians as there are places; the first is number `first` of all.
    fn encode(steps: &Steps, first: usize, grads: &[f32], hess: &[f32], out: &mut [Self::Pair]);
}

/// Gradients as they are: eight bytes a row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsF32 {
    /// The gradient and the hessian of each row.
    pub pairs: Box<[PairF32]>,
}

/// Gradients in 8 bits: two bytes a row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair8 {
    /// The codes of each row.
    pub codes: Box<[Pair8]>,
    /// What a gradient code of 1 stands for.
    pub grad_step: f32,
    /// What a hessian code of 1 stands for.
    pub hess_step: f32,
}

/// Gradients in 4 bits: a byte a row.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair4 {
    /// The codes of each row.
    pub codes: Box<[Pair4]>,
    /// What a gradient code of 1 stands for.
    pub grad_step: f32,
    /// What a hessian code of 1 stands for.
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

    fn encode(_steps: &Steps, _first: usize, grads: &[f32], hess: &[f32], out: &mut [PairF32]) {
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

    fn encode(steps: &Steps, first: usize, grads: &[f32], hess: &[f32], out: &mut [Pair8]) {
        steps.round(grads, hess, first, out);
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

    fn encode(steps: &Steps, first: usize, grads: &[f32], hess: &[f32], out: &mut [Pair4]) {
        // Codes of 8 bits on the way stay in the nearest cache.
        const SOME: usize = 256;
        let mut codes = [Pair8::default(); SOME];
        for (at, ((grads, hess), out)) in
            grads.chunks(SOME).zip(hess.chunks(SOME)).zip(out.chunks_mut(SOME)).enumerate()
        {
            let codes = &mut codes[..out.len()];
            steps.round(grads, hess, first + at * SOME, codes);
            codes.iter().zip(out).for_each(|(codes, out)| *out = Pair4::new(codes.grad, codes.hess));
        }
    }
}
