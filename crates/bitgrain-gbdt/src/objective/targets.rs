//! Validation of targets.

use super::ObjectiveError;
use crate::samples::invalid_target;

/// Maximum number of classes. One tree is grown per class and round.
pub(super) const MAX_CLASSES: usize = 65_536;

/// Returns an error for the first target that is not `good`.
pub(super) fn check(
    targets: &[f32],
    objective: impl FnOnce() -> String,
    takes: &'static str,
    good: impl Fn(f32) -> bool,
) -> Result<(), ObjectiveError> {
    match targets.iter().position(|&target| !good(target)) {
        Some(row) => Err(invalid_target(row, targets[row].into(), || ObjectiveError::Target {
            row,
            target: targets[row],
            objective: objective(),
            takes,
        })),
        None => Ok(()),
    }
}

/// Checks that a nonnegative target with a weight is above 0: otherwise the logarithm of the mean is infinite.
pub(super) fn check_some(
    targets: &[f32],
    weights: Option<&[f32]>,
    objective: impl FnOnce() -> String,
) -> Result<(), ObjectiveError> {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let some = targets.iter().enumerate().any(|(row, &target)| target > 0.0 && counts(row));
    if some { Ok(()) } else { Err(ObjectiveError::AllZero { objective: objective() }) }
}

/// Checks that all targets are finite. Custom objectives can call it from their [`check`](super::Objective::check).
///
/// # Errors
/// Returns [`ObjectiveError::Sample`] for a missing target, [`ObjectiveError::Target`] for an infinite one.
pub fn check_finite(targets: &[f32], objective: impl FnOnce() -> String) -> Result<(), ObjectiveError> {
    check(targets, objective, "finite targets", f32::is_finite)
}

/// Returns the class index of a target, or `None` if it is not an integer in `0..classes`.
pub(crate) fn class_of(target: impl Into<f64>, classes: usize) -> Option<usize> {
    let target = target.into();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and the result is compared below"
    )]
    let class = target as usize;
    #[expect(clippy::cast_precision_loss, reason = "the number of classes is far below 2^53")]
    let whole = class as f64 == target;
    (whole && class < classes.min(MAX_CLASSES)).then_some(class)
}
