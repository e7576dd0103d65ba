//! Theoretical lower limits of the quantization error, for comparison with measured errors.

/// Mean squared error of the best scalar quantizer of a standard normal variable (Lloyd 1957, Max 1960), by number of
/// levels. A test recomputes the values.
const LLOYD_MAX: [(f64, f64); 9] = [
    (2.0, 0.363_380),
    (3.0, 0.190_174),
    (4.0, 0.117_481),
    (8.0, 0.034_548),
    (15.0, 0.010_737),
    (16.0, 0.009_501),
    (32.0, 0.002_505),
    (64.0, 0.000_644),
    (255.0, 0.000_041_6),
];

/// Returns the least relative RMS error of a quantizer with this many levels on normally distributed weights.
///
/// ```
/// use bitgrain_codec::weight::optimum;
/// let cosine = |levels| (1.0 - optimum::scalar(levels).powi(2)).sqrt();
/// assert!((cosine(2.0) - 0.798).abs() < 5e-4); // binary
/// assert!((cosine(3.0) - 0.900).abs() < 5e-4); // ternary
/// assert!((cosine(4.0) - 0.939).abs() < 5e-4); // two bits
/// ```
#[must_use]
pub fn scalar(levels: f64) -> f64 {
    let known = LLOYD_MAX.iter().find(|(n, _)| *n == levels).map(|&(_, error)| error);
    // Beyond the table, the high-resolution limit of Panter and Dite is accurate enough.
    let error = known.unwrap_or(core::f64::consts::PI * libm::sqrt(3.0) / 2.0 / (levels * levels));
    libm::sqrt(error)
}

/// Returns the least relative RMS error of any code at this many bits per weight: Shannon's bound for normally
/// distributed weights, 6.02 dB per bit. Formats with one scale per block can beat [`scalar`], but not this bound.
#[must_use]
pub fn bound(bits_per_weight: f64) -> f64 {
    libm::exp2(-bits_per_weight)
}

/// Converts a relative RMS error to a signal-to-noise ratio in dB.
#[must_use]
pub fn decibels(relative_rmse: f64) -> f64 {
    -20.0 * libm::log10(relative_rmse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn density(x: f64) -> f64 {
        libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI)
    }

    fn below(x: f64) -> f64 {
        0.5 * libm::erfc(-x / core::f64::consts::SQRT_2)
    }

    /// Runs Lloyd's iteration: borders halfway between levels, levels at the mean of their cells.
    fn lloyd(count: u32) -> f64 {
        let mut levels: alloc::vec::Vec<f64> =
            (0..count).map(|i| 6.0 * (f64::from(i) + 0.5) / f64::from(count) - 3.0).collect();
        for _ in 0..20_000 {
            let old = levels.clone();
            let border = |i: usize| match i {
                0 => f64::NEG_INFINITY,
                i if i == old.len() => f64::INFINITY,
                i => f64::midpoint(old[i - 1], old[i]),
            };
            for (i, level) in levels.iter_mut().enumerate() {
                let (a, b) = (border(i), border(i + 1));
                *level = (density(a) - density(b)) / (below(b) - below(a));
            }
        }
        // If every level is the mean of its cell, the error is the variance minus the variance of the levels.
        let border = |i: usize| match i {
            0 => f64::NEG_INFINITY,
            i if i == levels.len() => f64::INFINITY,
            i => f64::midpoint(levels[i - 1], levels[i]),
        };
        let own: f64 = (0..levels.len()).map(|i| levels[i].powi(2) * (below(border(i + 1)) - below(border(i)))).sum();
        1.0 - own
    }

    #[test]
    fn the_table_is_what_lloyds_iteration_gives() {
        for (levels, error) in LLOYD_MAX.into_iter().filter(|(levels, _)| *levels < 100.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small integer")]
            let found = lloyd(levels as u32);
            assert!((found / error - 1.0).abs() < 2e-3, "{levels} levels: {found}, not {error}");
        }
    }

    #[test]
    fn the_optimum_increases_with_the_number_of_levels_beyond_the_table() {
        let errors = [2.0, 3.0, 4.0, 8.0, 15.0, 16.0, 32.0, 64.0, 255.0, 256.0, 65536.0].map(scalar);
        assert!(errors.is_sorted_by(|a, b| a > b), "{errors:?}");
    }
}
