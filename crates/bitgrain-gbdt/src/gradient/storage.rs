//! Gradients of all rows, at the precision they are kept at.

use super::rows::GradientRows;
use super::steps::{Codes, Steps};
use super::{GradientPrecision, Gradients, GradientsF32, GradientsPair4, GradientsPair8};

/// Gradients at one of the precisions: each variant is the type that training keeps its gradients in, and encodes them
/// in the same way.
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
        let (max_grad, max_hess) = (largest(grads), largest(hess));
        let steps = |codes: Codes| Steps::new(codes.for_rows(grads.len()), max_grad, max_hess, seed);
        Ok(match precision.of(grads.len()) {
            GradientPrecision::Pair8 => Self::Pair8(kept(&steps(Codes::PAIR8), grads, hess)),
            GradientPrecision::Pair4 => Self::Pair4(kept(&steps(Codes::PAIR4), grads, hess)),
            _ => Self::F32(kept(&steps(Codes::NONE), grads, hess)),
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

/// Gradients as training keeps them.
fn kept<G: GradientRows>(steps: &Steps, grads: &[f32], hess: &[f32]) -> G {
    let mut rows = G::zeros(grads.len());
    G::encode(steps, 0, grads, hess, rows.pairs_mut());
    rows.set_steps(steps);
    rows
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
