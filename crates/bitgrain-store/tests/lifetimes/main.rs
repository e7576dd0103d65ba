//! Long lives of a store under the default policy, through its public interface and a clock that the test sets.

mod model;
mod month;
mod operation;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bitgrain_store::{Clock, StoreConfig, SyncMode};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Midnight before a Monday.
const MONDAY: u64 = 1_699_833_600_000;

/// A clock that is set by hand.
#[derive(Debug)]
struct HandClock(AtomicU64);

impl Clock for HandClock {
    fn now(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl HandClock {
    fn set(&self, now: u64) {
        self.0.store(now, Relaxed);
    }
}

/// The default settings with such a clock, not waiting for a disk that loses no power here.
fn with_clock() -> (Arc<HandClock>, StoreConfig) {
    let clock = Arc::new(HandClock(AtomicU64::new(MONDAY)));
    let config =
        StoreConfig { clock: Arc::clone(&clock) as Arc<dyn Clock>, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    (clock, config)
}

/// Numbers that are the same on every machine.
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(((self.0 >> 33) * end as u64) >> 31).expect("below `end`")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Values from -1 to 1, denser near 0, as embeddings and weights are.
fn values(seed: u64, len: usize) -> Vec<f32> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    dice.below(2);
    let mut one = || dice.below(2001) as f32 / 1000.0 - 1.0;
    (0..len).map(|_| (one() + one() + one() + one()) / 4.0).collect()
}

/// The largest distance between two slices.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
