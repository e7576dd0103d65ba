//! Gradients of all rows, at the precision they are kept at.

use bitgrain_kernels::histograms::{Pair4, Pair8};

use super::GradientPrecision;
use super::steps::{Codes, Steps};

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

/// Gradients as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsF32 {
    /// The gradient of each row.
    pub grads: Box<[f32]>,
    /// The hessian of each row.
    pub hess: Box<[f32]>,
}

/// Gradients in 8 bits.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair8 {
    /// The codes of each row.
    pub codes: Box<[Pair8]>,
    /// What a gradient code of 1 stands for.
    pub grad_step: f32,
    /// What a hessian code of 1 stands for.
    pub hess_step: f32,
}

/// Gradients in 4 bits.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientsPair4 {
    /// The codes of each row.
    pub codes: Box<[Pair4]>,
    /// What a gradient code of 1 stands for.
    pub grad_step: f32,
    /// What a hessian code of 1 stands for.
    pub hess_step: f32,
}

/// Gradients at one of the precisions.
///
/// ```
/// use bitgrain_gbdt::gradient::{GradientPrecision, GradientStorage, Gradients};
/// let kept = GradientStorage::new(GradientPrecision::Pair8, &[-1.0, 0.5], &[1.0, 0.25], None)?;
/// assert_eq!((kept.grad(0), kept.hess(0)), (-1.0, 1.0)); // the largest are kept as they are
/// assert!((kept.grad(1) - 0.5).abs() <= 0.5 / 127.0); // half a step
/// assert_eq!(kept.bytes(), 4);
/// # Ok::<(), bitgrain_gbdt::gradient::GradientError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum GradientStorage {
    /// As they are.
    F32(GradientsF32),
    /// In 8 bits each.
    Pair8(GradientsPair8),
    /// In 4 bits each.
    Pair4(GradientsPair4),
}

impl GradientStorage {
    /// Keeps gradients at a precision. With a seed they are rounded up or down at random, so that sums keep their
    /// expectation; without, to nearest, and no hessian above 0 to 0.
    ///
    /// # Errors
    /// [`GradientError`] unless there are as many gradients as hessians, all finite, and no hessian is negative.
    pub fn new(
        precision: GradientPrecision,
        grads: &[f32],
        hess: &[f32],
        seed: Option<u32>,
    ) -> Result<Self, GradientError> {
        if grads.len() != hess.len() {
            return Err(GradientError::Count { grads: grads.len(), hess: hess.len() });
        }
        let bad = |row: &usize| !(grads[*row].is_finite() && hess[*row].is_finite() && hess[*row] >= 0.0);
        if let Some(row) = (0..grads.len()).find(bad) {
            return Err(GradientError::Value { row, grad: grads[row], hess: hess[row] });
        }
        let largest = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let quantized = |codes: Codes| {
            let steps = Steps::new(codes.for_rows(grads.len()), largest(grads), largest(hess), seed);
            let mut pairs = vec![Pair8::default(); grads.len()];
            steps.round(grads, hess, 0, &mut pairs);
            #[expect(clippy::cast_possible_truncation, reason = "a step of f32 gradients")]
            (pairs, steps.grad_step() as f32, steps.hess_step() as f32)
        };
        Ok(match precision.of(grads.len()) {
            GradientPrecision::Pair8 => {
                let (codes, grad_step, hess_step) = quantized(Codes::PAIR8);
                Self::Pair8(GradientsPair8 { codes: codes.into(), grad_step, hess_step })
            }
            GradientPrecision::Pair4 => {
                let (codes, grad_step, hess_step) = quantized(Codes::PAIR4);
                let codes = codes.iter().map(|codes| Pair4::new(codes.grad, codes.hess)).collect();
                Self::Pair4(GradientsPair4 { codes, grad_step, hess_step })
            }
            _ => Self::F32(GradientsF32 { grads: grads.into(), hess: hess.into() }),
        })
    }

    /// Bytes of all gradients and hessians.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::F32(kept) => kept.len() * 8,
            Self::Pair8(kept) => kept.len() * 2,
            Self::Pair4(kept) => kept.len(),
        }
    }

    fn kept(&self) -> &dyn Gradients {
        match self {
            Self::F32(kept) => kept,
            Self::Pair8(kept) => kept,
            Self::Pair4(kept) => kept,
        }
    }
}

impl Gradients for GradientStorage {
    fn grad(&self, row: usize) -> f32 {
        self.kept().grad(row)
    }

    fn hess(&self, row: usize) -> f32 {
        self.kept().hess(row)
    }

    fn len(&self) -> usize {
        self.kept().len()
    }
}

impl Gradients for GradientsF32 {
    fn grad(&self, row: usize) -> f32 {
        self.grads[row]
    }

    fn hess(&self, row: usize) -> f32 {
        self.hess[row]
    }

    fn len(&self) -> usize {
        self.grads.len()
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

/// Why gradients cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// Not as many of the one as of the other.
    #[error("{grads} gradients and {hess} hessians")]
    Count {
        /// Gradients there are.
        grads: usize,
        /// Hessians there are.
        hess: usize,
    },
    /// A gradient or hessian that is not finite, or a negative hessian.
    #[error("row {row} has a gradient of {grad} and a hessian of {hess}")]
    Value {
        /// The first such row.
        row: usize,
        /// Its gradient.
        grad: f32,
        /// Its hessian.
        hess: f32,
    },
}
