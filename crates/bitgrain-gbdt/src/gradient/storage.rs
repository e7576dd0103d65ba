//! `GradientStorage`: gradients of all rows in one of the precisions.

use super::rows::GradientRows;
use super::steps::{Codes, Steps};
use super::{GradientPrecision, Gradients, GradientsF32, GradientsPair4, GradientsPair8};
use crate::narrow::narrow;

/// Gradients in one of the precisions. Each variant is the type that training uses, with the same encoding.
///
/// ```
/// use bitgrain_gbdt::gradient::{GradientPrecision, GradientStorage, Gradients};
/// let kept = GradientStorage::new(GradientPrecision::Pair8, &[-1.0, 0.5], &[1.0, 0.25], None)?;
/// assert_eq!((kept.grad(0), kept.hess(0)), (-1.0, 1.0)); // the largest values are exact
/// assert!((kept.grad(1) - 0.5).abs() <= 0.5 / 127.0); // half a step
/// assert_eq!(kept.bytes(), 4);
/// # Ok::<(), bitgrain_gbdt::gradient::GradientError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum GradientStorage {
    /// Unquantized f32.
    F32(GradientsF32),
    /// 8 bits each for gradient and hessian.
    Pair8(GradientsPair8),
    /// 4 bits each for gradient and hessian.
    Pair4(GradientsPair4),
}

impl GradientStorage {
    /// Encodes gradients. With a seed, values are rounded stochastically, which keeps the expectation of sums. Without
    /// a seed, they are rounded to nearest, except that a positive hessian never becomes 0.
    ///
    /// # Errors
    /// Returns a [`GradientError`] unless there is one hessian per gradient, all are finite, and no hessian is
    /// negative.
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

    /// Size of all gradients and hessians in bytes.
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

/// Encodes gradients the way training does.
fn kept<G: GradientRows>(steps: &Steps, grads: &[f32], hess: &[f32]) -> G {
    let mut rows = G::zeros(grads.len());
    let indices: Vec<u32> = (0..narrow(grads.len())).collect();
    G::encode(steps, &indices, grads, hess, rows.pairs_mut());
    rows.set_steps(steps);
    rows
}

/// Reason why gradients cannot be stored.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// Different numbers of gradients and hessians.
    #[error("{grads} gradients for {hess} hessians; pass one of each per row")]
    Count {
        /// Number of gradients.
        grads: usize,
        /// Number of hessians.
        hess: usize,
    },
    /// A gradient or hessian that is not finite, or a negative hessian.
    #[error(
        "gradient {grad} and hessian {hess} of row {row} (0-based) are invalid; both must be finite \
         and hessians at least 0"
    )]
    Value {
        /// Index of the first such row.
        row: usize,
        /// Gradient of that row.
        grad: f32,
        /// Hessian of that row.
        hess: f32,
    },
}
