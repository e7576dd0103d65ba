//! A test of many scores at once that excludes most rows of a scan.

use crate::backend::on;
use crate::{Backend, KernelError};

/// A condition on a row with score `s`, norm `n` and residual `r`: `s + constant + n * (norm + n * norm_square) + r *
/// (residual + r * residual_square)` is not below 0. Minus infinity and NaN, which follow from overflows, meet it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowCondition {
    /// Constant term.
    pub constant: f32,
    /// Factor of the norm.
    pub norm: f32,
    /// Factor of the squared norm.
    pub norm_square: f32,
    /// Factor of the residual.
    pub residual: f32,
    /// Factor of the squared residual.
    pub residual_square: f32,
}

/// Writes 1 for each row that meets one of two conditions, 0 for each other row. Operations are in the order of
/// [`RowCondition`]'s formula and not fused, so every backend marks the same rows.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] unless norms and residuals have the length of the scores, or
/// [`KernelError::OutputTooSmall`] unless the marks have.
pub fn mark_rows(
    backend: Backend,
    conditions: &[RowCondition; 2],
    scores: &[f32],
    norms: &[f32],
    residuals: &[f32],
    marks: &mut [u8],
) -> Result<(), KernelError> {
    let required = scores.len();
    if norms.len() != required || residuals.len() != required {
        return Err(KernelError::InputTooSmall { required });
    }
    if marks.len() != required {
        return Err(KernelError::OutputTooSmall { required });
    }
    on!(backend, mark_rows(conditions, scores, norms, residuals, marks));
    Ok(())
}

/// The loop of [`mark_rows`], which every backend compiles.
#[inline(always)]
pub(crate) fn mark_rows_body(
    conditions: &[RowCondition; 2],
    scores: &[f32],
    norms: &[f32],
    residuals: &[f32],
    marks: &mut [u8],
) {
    for (((mark, &score), &norm), &residual) in marks.iter_mut().zip(scores).zip(norms).zip(residuals) {
        let excludes = |condition: &RowCondition| {
            let by_norm = norm * (condition.norm + norm * condition.norm_square);
            let by_residual = residual * (condition.residual + residual * condition.residual_square);
            let sum = score + condition.constant + by_norm + by_residual;
            // Without branches, so that the compiler tests many rows at once.
            (f32::MIN..0.0).contains(&sum)
        };
        *mark = u8::from(!(excludes(&conditions[0]) & excludes(&conditions[1])));
    }
}
