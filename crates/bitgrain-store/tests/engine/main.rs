//! The public interface of the store, on real folders.

mod absent;
mod batches;
mod clocks;
mod compaction;
mod concurrency;
mod copies;
mod defects;
mod durability;
mod forged;
mod frame_policy;
mod full_disk;
mod ids;
mod limits;
mod mapped;
mod partial;
mod pins;
mod places;
mod readers;
mod replicas;
mod storages;
mod temporal;
mod tiers;
mod wanted_tiers;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bitgrain_store::policy::{AbsentRule, PolicyConfig};
use bitgrain_store::{Clock, SimulatedClock, StoreConfig, SyncMode, TensorStore};

/// Returns values that depend on the seed.
fn wave(seed: usize, len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7 + seed * 13) as f32 * 0.11).sin() * (1.0 + (seed % 17) as f32)).collect()
}

fn open(folder: &Path) -> TensorStore {
    TensorStore::open(folder, StoreConfig::default()).expect("opens")
}

/// Returns settings without fsync and with small segments.
fn small_segments() -> StoreConfig {
    StoreConfig { segment_bytes: 16 << 10, sync: SyncMode::OnSeal, ..StoreConfig::default() }
}

/// Returns the largest difference between two slices.
fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Returns settings with a clock that the test sets.
fn with_clock(start: u64) -> (Arc<SimulatedClock>, StoreConfig) {
    let clock = Arc::new(SimulatedClock::new(start));
    let config =
        StoreConfig { clock: Arc::clone(&clock) as Arc<dyn Clock>, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    (clock, config)
}

/// Returns the same settings with the policy of ADR-019, which goes down to 3 bits, and evicts every idle tensor.
fn evicting(config: StoreConfig) -> StoreConfig {
    StoreConfig { policy: PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() }, ..config }
}

/// Sets a flag when dropped, after a panic as well, so that waiting threads end.
struct Over<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
