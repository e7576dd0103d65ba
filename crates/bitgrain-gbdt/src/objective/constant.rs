//! Best constant predictions: means, quantiles and logarithms of means.

use crate::metric::sums;

/// Minimum distance of probabilities from 0 and 1 before taking the logarithm, as in LightGBM.
pub(super) const LEAST_SHARE: f64 = 1e-15;
/// Minimum mean of counts and amounts before taking the logarithm: all targets may be 0.
const LEAST_MEAN: f64 = 1e-9;

/// Returns the weighted mean, or 0 if the total weight is 0.
pub(super) fn mean(targets: &[f32], weights: Option<&[f32]>) -> f64 {
    let [sum, total] = sums(targets.len(), |row| {
        let weight = weight_of(weights, row);
        [weight * f64::from(targets[row]), weight]
    });
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Returns the logarithm of the mean of nonnegative targets.
pub(super) fn log_mean(targets: &[f32], weights: Option<&[f32]>) -> f64 {
    libm::log(mean(targets, weights).max(LEAST_MEAN))
}

/// Returns the weight of a row.
pub(super) fn weight_of(weights: Option<&[f32]>, row: usize) -> f64 {
    weights.map_or(1.0, |weights| f64::from(weights[row]))
}

/// Returns a weighted quantile of the targets.
pub(super) fn quantile(targets: &[f32], weights: Option<&[f32]>, alpha: f64) -> f64 {
    let mut pairs: Vec<(f32, f32)> = match weights {
        Some(weights) => targets.iter().copied().zip(weights.iter().copied()).collect(),
        None => targets.iter().map(|&target| (target, 1.0)).collect(),
    };
    quantile_of_pairs(&mut pairs, alpha)
}

/// Returns the value that minimizes the pinball loss over `(value, weight)` pairs: the first value in ascending order
/// at which the cumulative weight reaches `alpha` of the total, or the midpoint to the next value if it is reached
/// exactly. Returns 0 if the total weight is 0. Reorders the pairs.
pub(super) fn quantile_of_pairs(pairs: &mut [(f32, f32)], alpha: f64) -> f64 {
    let Some(&(_, first)) = pairs.first() else { return 0.0 };
    if first > 0.0 && pairs.iter().all(|&(_, weight)| weight == first) {
        return quantile_of_equals(pairs, alpha);
    }
    // Sort by weight, too, so that sums do not depend on the input order.
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut heavy = pairs.iter().filter(|&&(_, weight)| weight > 0.0);
    let wanted = alpha * heavy.clone().map(|&(_, weight)| f64::from(weight)).sum::<f64>();
    let (mut filled, mut last) = (0.0, 0.0);
    while let Some(&(value, weight)) = heavy.next() {
        filled += f64::from(weight);
        last = f64::from(value);
        if filled >= wanted {
            let next = heavy.next().filter(|_| filled <= wanted);
            return next.map_or(last, |&(next, _)| f64::midpoint(last, f64::from(next)));
        }
    }
    last
}

/// Like [`quantile_of_pairs`] for equal weights: selects instead of sorting.
fn quantile_of_equals(pairs: &mut [(f32, f32)], alpha: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let wanted = alpha * pairs.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the number of pairs")]
    let at = (wanted.ceil() as usize).clamp(1, pairs.len()) - 1;
    let (_, &mut (value, _), above) = pairs.select_nth_unstable_by(at, |a, b| a.0.total_cmp(&b.0));
    let value = f64::from(value);
    if wanted.fract() > 0.0 {
        return value;
    }
    let next = above.iter().map(|&(value, _)| value).min_by(f32::total_cmp);
    next.map_or(value, |next| f64::midpoint(value, f64::from(next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_is_midway() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], None, 0.5), 2.5);
        assert_eq!(quantile(&[3.0, 1.0, 2.0], None, 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], Some(&[1.0, 1.0, 1.0, 3.5]), 0.5), 4.0);
    }

    #[test]
    fn weight_two_repeats_a_row() {
        let (values, weights) = ([5.0, -1.0, 2.0, 2.0, 9.0], [2.0, 1.0, 0.0, 2.0, 1.0]);
        let twice = [5.0, 5.0, -1.0, 2.0, 2.0, 9.0];
        for alpha in [0.01, 0.25, 0.5, 2.0 / 3.0, 0.9, 0.99] {
            assert_eq!(quantile(&values, Some(&weights), alpha), quantile(&twice, None, alpha), "{alpha}");
        }
        assert_eq!(mean(&values, Some(&weights)), mean(&twice, None));
    }

    #[test]
    fn zero_weights_and_zero_rows_have_defined_results() {
        assert_eq!(quantile(&[], None, 0.5), 0.0);
        assert_eq!(quantile(&[7.0, 8.0], Some(&[0.0, 0.0]), 0.5), 0.0);
        assert_eq!(quantile(&[7.0, 8.0, 9.0], Some(&[1.0, 0.0, 1.0]), 0.5), 8.0); // midway between 7 and 9
        assert_eq!(mean(&[], None), 0.0);
        assert!(log_mean(&[0.0, 0.0], None).is_finite());
    }
}
