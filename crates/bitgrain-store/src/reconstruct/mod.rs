//! Tensors without data of their own: the sum of a base and a delta, or what a factor makes of a source.
//!
//! All of it is arithmetic on values that the caller has read. How far the result can be from what it stands for is
//! worked out along with it: errors of a base are passed on, rounding is added.
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

/// How to reconstruct a tensor whose data is gone.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconstruction {
    /// The sum of a base and a delta that is kept.
    Delta {
        /// A tensor of the same shape.
        base: TensorId,
        /// What is added to it.
        values: DeltaValues,
    },
    /// What a factor makes of a source.
    Factor {
        /// A tensor whose rows the factor is for.
        source: TensorId,
        /// What is done to it.
        factor: Factor,
    },
}

impl Reconstruction {
    /// The tensor that is needed.
    #[must_use]
    pub const fn base(&self) -> &TensorId {
        match self {
            Self::Delta { base, .. } => base,
            Self::Factor { source, .. } => source,
        }
    }
}

/// A delta, or the tensor that it should lead to.
#[derive(Debug, Clone, PartialEq)]
pub enum DeltaValues {
    /// The tensor as it should come back; the delta to the base as it is stored now is kept.
    Wanted(Vec<f32>),
    /// What to add to the base.
    Delta(Vec<f32>),
}

/// Values, none of which is further from what it stands for than `bound`.
#[derive(Debug, Clone, PartialEq)]
pub struct Approximate {
    /// The values.
    pub values: Vec<f32>,
    /// Largest possible error of one.
    pub bound: f32,
}

/// Largest relative error of a rounding to f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// The smallest f32 that is not below a sum of bounds.
#[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
fn bound_of(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

/// Largest magnitude of a result.
///
/// # Errors
/// [`StoreError::ReconstructionOverflow`](crate::StoreError::ReconstructionOverflow) with the first value that is not finite.
fn checked_max(values: &[f32]) -> Result<f32, crate::StoreError> {
    if !values.iter().fold(true, |finite, value| finite & value.is_finite()) {
        let index = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
        return Err(crate::StoreError::ReconstructionOverflow { index });
    }
    Ok(bitgrain_codec::max_abs(values))
}
