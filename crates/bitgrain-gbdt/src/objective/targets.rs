//! Which targets can be learned.

use super::ObjectiveError;
use crate::samples::refused_target;

/// Classes at most: labels are small whole numbers, and one tree per class and round is grown.
pub(super) const MAX_CLASSES: usize = 65_536;

/// Refuses the first target that is not `good`.
pub(super) fn check(
    targets: &[f32],
    objective: impl FnOnce() -> String,
    takes: &'static str,
    good: impl Fn(f32) -> bool,
) -> Result<(), ObjectiveError> {
    match targets.iter().position(|&target| !good(target)) {
        Some(row) => Err(refused_target(row, targets[row].into(), || ObjectiveError::Target {
            row,
            target: targets[row],
            objective: objective(),
            takes,
        })),
        None => Ok(()),
    }
}

/// Refuses targets from 0 on of which none with a weight is above 0: the logarithm of their mean is not a number.
pub(super) fn check_some(
    targets: &[f32],
    weights: Option<&[f32]>,
    objective: impl FnOnce() -> String,
) -> Result<(), ObjectiveError> {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let some = targets.iter().enumerate().any(|(row, &target)| target > 0.0 && counts(row));
    if some { Ok(()) } else { Err(ObjectiveError::AllZero { objective: objective() }) }
}

/// Checks that every target is a finite number. Custom objectives may call it from their
/// [`check`](super::Objective::check).
///
/// # Errors
/// [`ObjectiveError::Sample`] for a missing target, [`ObjectiveError::Target`] for an infinite one.
pub fn check_finite(targets: &[f32], objective: impl FnOnce() -> String) -> Result<(), ObjectiveError> {
    check(targets, objective, "finite numbers", f32::is_finite)
}

/// The class that a target names, if it is one of so many.
pub(crate) fn class_of(target: impl Into<f64>, classes: usize) -> Option<usize> {
    let target = target.into();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and is compared below")]
    let class = target as usize;
    #[expect(clippy::cast_precision_loss, reason = "there are fewer classes than 2^53")]
    let whole = class as f64 == target;
    (whole && class < classes.min(MAX_CLASSES)).then_some(class)
}
