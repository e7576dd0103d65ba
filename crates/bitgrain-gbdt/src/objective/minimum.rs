//! Best constants of losses of the error, by Newton steps within bounds.

use super::constant::{quantile, weight_of};
use crate::metric::sums;

/// Returns the constant at which the weighted slopes of the errors cancel. `parts` returns the slope and a curvature of
/// the loss at an error, that is, the constant minus the target; `scale` is an error that matters.
///
/// Each iteration takes a Newton step if it stays within the known bounds, else bisects them; starting from the median,
/// few iterations are needed. All values are relative to the median, so that shifting the targets shifts the constant by
/// exactly as much.
pub(super) fn best_shift(
    targets: &[f32],
    weights: Option<&[f32]>,
    scale: f64,
    parts: impl Fn(f64) -> (f64, f64) + Sync,
) -> f64 {
    let median = quantile(targets, weights, 0.5);
    let relative = |target: f32| f64::from(target) - median;
    let ends = |ends: (f64, f64), &target: &f32| (ends.0.min(relative(target)), ends.1.max(relative(target)));
    let (mut low, mut high) = targets.iter().fold((f64::MAX, f64::MIN), ends);
    let mut constant = 0.0;
    for _ in 0..100 {
        let [slope, curve] = sums(targets.len(), |row| {
            let weight = weight_of(weights, row);
            let (slope, curve) = parts(constant - relative(targets[row]));
            [weight * slope, weight * curve]
        });
        if slope > 0.0 {
            high = constant
        } else {
            low = constant
        }
        let newton = constant - slope / curve;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        if slope == 0.0 || (next - constant).abs() <= 1e-12 * (scale + constant.abs()) {
            break;
        }
        constant = next;
    }
    median + constant
}
