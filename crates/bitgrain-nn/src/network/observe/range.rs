//! `Observer`: methods to find the range of values over several batches.

use crate::network::NetworkError;

/// Method to find the range of a matrix's inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Observer {
    /// From the smallest to the largest value.
    MinMax,
    /// Clipped at the magnitude that this percentage of all values does not exceed, above 0 and at most 100. The
    /// resolution is about a thousandth of the largest magnitude.
    Percentile(f32),
    /// Exponential moving average of the smallest and largest value of each batch. The argument is the weight of the
    /// newest batch, above 0 and at most 1.
    MovingAverage(f32),
}

impl Observer {
    pub(super) fn check(self) -> Result<(), NetworkError> {
        let within = |what, value: f32, most: f32| {
            let fine = value > 0.0 && value <= most;
            if fine { Ok(()) } else { Err(NetworkError::Training { what, value: value.into() }) }
        };
        match self {
            Self::MinMax => Ok(()),
            Self::Percentile(percent) => within("percentile", percent, 100.0),
            Self::MovingAverage(share) => within("moving average weight", share, 1.0),
        }
    }
}

/// Number of histogram bins of magnitudes.
const HISTOGRAM_BINS: usize = 2048;

/// Running ranges.
#[derive(Debug)]
pub(super) struct Ranges {
    observer: Observer,
    /// Range of all batches, or the average over batches.
    all: Option<(f32, f32)>,
    /// Range of the current batch.
    batch: Option<(f32, f32)>,
    /// Number of magnitudes in each bin of width `width`.
    bars: Vec<u64>,
    width: f32,
}

impl Ranges {
    pub(super) fn new(observer: Observer) -> Self {
        let bars = if matches!(observer, Observer::Percentile(_)) { vec![0; HISTOGRAM_BINS] } else { Vec::new() };
        Self { observer, all: None, batch: None, bars, width: 0.0 }
    }

    pub(super) fn add(&mut self, x: &[f32]) {
        let start = self.batch.unwrap_or((f32::INFINITY, f32::NEG_INFINITY));
        self.batch = Some(x.iter().fold(start, |(lo, hi), x| (lo.min(*x), hi.max(*x))));
        if !self.bars.is_empty() {
            x.iter().for_each(|x| self.count(x.abs()));
        }
    }

    /// Merges the range of the current batch into the overall range.
    pub(super) fn end_batch(&mut self) {
        let Some((lo, hi)) = self.batch.take() else { return };
        self.all = Some(match (self.all, self.observer) {
            (None, _) => (lo, hi),
            (Some((all_lo, all_hi)), Observer::MovingAverage(share)) => {
                (all_lo + share * (lo - all_lo), all_hi + share * (hi - all_hi))
            }
            (Some((all_lo, all_hi)), Observer::MinMax | Observer::Percentile(_)) => (all_lo.min(lo), all_hi.max(hi)),
        });
    }

    pub(super) fn range(&self) -> (f32, f32) {
        let (lo, hi) = self.all.unwrap_or((0.0, 0.0));
        match self.observer {
            Observer::Percentile(percent) => {
                let limit = self.limit(percent);
                (lo.max(-limit), hi.min(limit))
            }
            Observer::MinMax | Observer::MovingAverage(_) => (lo, hi),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bin below HISTOGRAM_BINS")]
    #[expect(clippy::cast_precision_loss, reason = "a number of bins")]
    fn count(&mut self, magnitude: f32) {
        if magnitude == 0.0 {
            self.bars[0] += 1;
            return;
        }
        if self.width == 0.0 {
            // The first nonzero value lands in the middle of the histogram, which leaves room for larger ones.
            self.width = (magnitude / (HISTOGRAM_BINS / 2) as f32).max(f32::MIN_POSITIVE);
        }
        // The final maximum is unknown in advance: double the bin width, merging pairs of bins, until the value fits.
        while magnitude / self.width >= HISTOGRAM_BINS as f32 {
            for i in 0..HISTOGRAM_BINS / 2 {
                self.bars[i] = self.bars[2 * i] + self.bars[2 * i + 1];
            }
            self.bars[HISTOGRAM_BINS / 2..].fill(0);
            self.width *= 2.0;
        }
        self.bars[((magnitude / self.width) as usize).min(HISTOGRAM_BINS - 1)] += 1;
    }

    /// Returns the upper end of the bin in which this percentage of the magnitudes is reached.
    #[expect(clippy::cast_precision_loss, reason = "counts and a number of bins")]
    fn limit(&self, percent: f32) -> f32 {
        let wanted = f64::from(percent) / 100.0 * self.bars.iter().sum::<u64>() as f64;
        let mut sum = 0;
        let reached = self.bars.iter().position(|count| {
            sum += count;
            sum as f64 >= wanted
        });
        (reached.unwrap_or(HISTOGRAM_BINS - 1) + 1) as f32 * self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(observer: Observer, batches: &[&[f32]]) -> (f32, f32) {
        let mut ranges = Ranges::new(observer);
        for batch in batches {
            ranges.add(batch);
            ranges.end_batch();
        }
        ranges.range()
    }

    #[test]
    fn ranges_are_those_of_their_definitions() {
        let batches: [&[f32]; 2] = [&[-1.0, 2.0], &[0.0, 6.0]];
        assert_eq!(seen(Observer::MinMax, &batches), (-1.0, 6.0));
        assert_eq!(seen(Observer::MovingAverage(0.25), &batches), (-0.75, 3.0));
    }

    #[test]
    fn a_percentile_ignores_outliers() {
        let mut values: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
        values.push(-5000.0);
        let (lo, hi) = seen(Observer::Percentile(50.0), &[&values]);
        assert!(lo > -5.0 && hi == 0.999, "{lo} {hi}: as fine as the largest allows");
        values.pop();
        let (lo, hi) = seen(Observer::Percentile(90.0), &[&values]);
        assert!(lo == 0.0 && (hi - 0.9).abs() < 2e-3, "{lo} {hi}");
        assert_eq!(seen(Observer::Percentile(100.0), &[&[0.0, 0.0]]), (0.0, 0.0));
        assert_eq!(seen(Observer::Percentile(100.0), &[&[1e-45, 3e38]]).1, 3e38);
    }

    #[test]
    fn invalid_observers_are_rejected() {
        for odd in [Observer::Percentile(0.0), Observer::Percentile(101.0), Observer::MovingAverage(f32::NAN)] {
            assert!(odd.check().is_err(), "{odd:?}");
        }
    }
}
