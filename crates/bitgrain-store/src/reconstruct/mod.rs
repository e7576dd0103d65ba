//! Tensors without stored data: the sum of a base and a delta, or a factor applied to a source.
//!
//! Pure arithmetic on values that the caller has read. Error bounds are propagated: the error of the base plus the
//! rounding error.
//!
//! ```
//! use bitgrain_store::reconstruct::{Approximate, Factor, apply_factor};
//! let source = Approximate { values: vec![1.0, 2.0, 3.0, 4.0], bound: 0.5 };
//! let halved = Factor { scale: 0.5, ..Factor::default() };
//! let (shape, result) = apply_factor(&[2, 2], &source, &halved)?;
//! assert_eq!((shape, result.values), (vec![2, 2], vec![0.5, 1.0, 1.5, 2.0]));
//! assert!((result.bound - 0.25).abs() < 1e-6);
//! # Ok::<(), bitgrain_store::StoreError>(())
//! ```

mod chain;
mod delta;
mod dependents;
mod factor;

pub use chain::{Links, MAX_DEPTH, chain, check_drop, check_link};
pub use delta::{apply_delta, delta_between};
pub use dependents::DependentIndex;
pub use factor::{Factor, Projection, apply_factor};

use crate::TensorId;

/// Reconstruction policy of a tensor without data.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconstruction {
    /// Sum of a base and a stored delta.
    Delta {
        /// A tensor of the same shape.
        base: TensorId,
        /// Delta, or the tensor to derive it from.
        values: DeltaValues,
    },
    /// A factor applied to a source.
    Factor {
        /// Tensor with the number of rows that the factor expects.
        source: TensorId,
        /// Operation on the source.
        factor: Factor,
    },
}

impl Reconstruction {
    /// Returns the tensor that the reconstruction depends on.
    #[must_use]
    pub const fn base(&self) -> &TensorId {
        match self {
            Self::Delta { base, .. } => base,
            Self::Factor { source, .. } => source,
        }
    }
}

/// A delta, or the result to derive it from.
#[derive(Debug, Clone, PartialEq)]
pub enum DeltaValues {
    /// The result; the store computes the delta to the base as currently stored.
    Wanted(Vec<f32>),
    /// The delta itself.
    Delta(Vec<f32>),
}

/// Values with an error bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Approximate {
    /// The values.
    pub values: Vec<f32>,
    /// Largest possible error of a value.
    pub bound: f32,
}

/// Largest relative error of rounding to f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Returns the smallest f32 that is at least `exact`.
#[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
fn bound_of(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

/// Returns the largest magnitude of a result.
///
/// # Errors
/// Returns [`StoreError::ReconstructionOverflow`](crate::StoreError::ReconstructionOverflow) with the first non-finite
/// value.
fn checked_max(values: &[f32]) -> Result<f32, crate::StoreError> {
    if !values.iter().fold(true, |finite, value| finite & value.is_finite()) {
        let index = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
        return Err(crate::StoreError::ReconstructionOverflow { index });
    }
    Ok(bitgrain_codec::max_abs(values))
}
