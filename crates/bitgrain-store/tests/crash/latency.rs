//! Histogram of latencies in constant memory.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Buckets per doubling: a percentile is exact within 4.5 %.
const STEPS: usize = 16;
/// Doublings from a nanosecond on.
const DOUBLINGS: usize = 40;

/// Latencies, counted by several threads.
pub(crate) struct Latencies([AtomicU64; STEPS * DOUBLINGS]);

impl Default for Latencies {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; STEPS * DOUBLINGS])
    }
}

impl Latencies {
    pub(crate) fn add(&self, latency: Duration) {
        let nanos = latency.as_nanos().max(1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a bucket")]
        let bucket = (nanos.log2() * STEPS as f64) as usize;
        self.0[bucket.min(self.0.len() - 1)].fetch_add(1, Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    /// Returns the latency that the share `part` of all operations does not exceed, in microseconds.
    pub(crate) fn percentile(&self, part: f64) -> f64 {
        let wanted = (self.count() as f64 * part).ceil();
        let mut seen = 0;
        for (bucket, count) in self.0.iter().enumerate() {
            seen += count.load(Relaxed);
            if seen > 0 && seen as f64 >= wanted {
                return 2_f64.powf((bucket + 1) as f64 / STEPS as f64) / 1000.0;
            }
        }
        0.0
    }

    /// Returns a table row: count, median, 99th and 99.9th percentile.
    pub(crate) fn row(&self) -> String {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|part| self.percentile(part));
        format!("{} | {p50:.0} | {p99:.0} | {p999:.0}", self.count())
    }
}

#[test]
fn percentiles_are_within_a_bucket_of_the_truth() {
    let latencies = Latencies::default();
    (1..=10_000).for_each(|micros| latencies.add(Duration::from_micros(micros)));
    for (part, truth) in [(0.5, 5_000.0), (0.99, 9_900.0), (0.999, 9_990.0)] {
        let found = latencies.percentile(part);
        assert!((found / truth - 1.0).abs() < 0.05, "{found} instead of {truth}");
    }
}
