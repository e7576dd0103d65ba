//! `Grid`: float sums that do not depend on the order of their terms.
//!
//! Terms are rounded to multiples of a step that is so large that every partial sum is a multiple of it as well, and
//! therefore exact in f64. Threads and workers may add them in any order.

use crate::distributed::Peers;

/// Multiples of a power of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    step: f64,
    /// Adding it and subtracting it again rounds to a multiple of `step`.
    rounder: f64,
}

impl Grid {
    /// Creates the finest grid on which sums of `n_rows` terms are exact, if their magnitude is at most `largest`.
    #[expect(clippy::cast_precision_loss, reason = "a power of two above the number of rows is needed only roughly")]
    pub(super) fn new(largest: f32, n_rows: usize) -> Self {
        // A power of two of which no sum exceeds the magnitude; f32 and 2^64 rows are far from the limits of f64.
        let bound = f64::from(largest).max(f64::from(f32::from_bits(1))) * (n_rows.max(1) as f64);
        let exponent = (bound.to_bits() >> 52) + 1;
        // 51 bits for sums, one for the sign, and one that `rounder` takes.
        let step = f64::from_bits((exponent - 51) << 52);
        Self { step, rounder: 1.5 * f64::from_bits((exponent + 1) << 52) }
    }

    /// Sums terms after rounding them.
    #[inline]
    pub(super) fn sum(&self, values: &[f32]) -> f64 {
        // Independent accumulators hide the latency of the additions, which are exact in any order.
        let mut sums = [0.0; 8];
        let (eights, rest) = values.as_chunks::<8>();
        for eight in eights {
            sums.iter_mut().zip(eight).for_each(|(sum, &value)| *sum += self.rounded(value));
        }
        sums.into_iter().sum::<f64>() + rest.iter().map(|&value| self.rounded(value)).sum::<f64>()
    }

    #[inline]
    pub(super) fn rounded(&self, value: f32) -> f64 {
        (f64::from(value) + self.rounder) - self.rounder
    }

    /// Replaces sums by those over all workers.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "integers below 2^52")]
    pub(super) fn reduce(&self, peers: &Peers<'_>, sums: &mut [f64]) {
        if !peers.are_alone() {
            let mut units: Vec<u64> = sums.iter().map(|sum| ((sum / self.step) as i64).cast_unsigned()).collect();
            peers.sum(&mut units);
            sums.iter_mut().zip(units).for_each(|(sum, units)| *sum = units.cast_signed() as f64 * self.step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mixed;

    #[test]
    fn sums_do_not_depend_on_the_order() {
        for (largest, n_rows) in [(1.0_f32, 10_000), (3e38, 10_000), (f32::from_bits(1), 10_000), (0.3, 7), (0.0, 3)] {
            let grid = Grid::new(largest, n_rows);
            let share = |row: usize| (mixed(row as u64) >> 40) as f32 / 8_388_608.0 - 1.0;
            let mut values: Vec<f32> = (0..n_rows).map(|row| share(row) * largest).collect();
            values[0] = largest;
            let sum = grid.sum(&values);
            let exact: f64 = values.iter().map(|&value| f64::from(value)).sum();
            assert!((sum - exact).abs() <= f64::from(largest) * n_rows as f64 * 1e-10, "{largest}: {sum}, {exact}");
            values.reverse();
            let (front, back) = values.split_at(n_rows / 3);
            assert_eq!((grid.sum(back) + grid.sum(front)).to_bits(), sum.to_bits(), "{largest}");
            // All of one sign: the largest possible sum.
            let most = vec![largest; n_rows];
            let twice = grid.sum(&most[..n_rows / 2]) + grid.sum(&most[n_rows / 2..]);
            assert_eq!(twice.to_bits(), grid.sum(&most).to_bits(), "{largest}");
        }
    }
}
