//! Long-term behavior of a store under its policies, through its public interface and a simulated clock.

mod model;
mod month;
mod operation;
mod week;
mod world;

use std::sync::Arc;

use bitgrain_store::storage::simulated::Dice;
use bitgrain_store::{Clock, SimulatedClock, StoreConfig, SyncMode};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Midnight at the start of a Monday.
const MONDAY: u64 = 1_699_833_600_000;

/// Returns the default settings with such a clock, and without fsync because no power failures are simulated.
fn with_clock() -> (Arc<SimulatedClock>, StoreConfig) {
    let clock = Arc::new(SimulatedClock::new(MONDAY));
    let config =
        StoreConfig { clock: Arc::clone(&clock) as Arc<dyn Clock>, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    (clock, config)
}

/// Returns values from -1 to 1, denser near 0, like embeddings and weights.
fn values(seed: u64, len: usize) -> Vec<f32> {
    let mut dice = Dice::new(seed);
    let mut one = || dice.below(2001) as f32 / 1000.0 - 1.0;
    (0..len).map(|_| (one() + one() + one() + one()) / 4.0).collect()
}

/// Returns the largest difference between two slices.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
