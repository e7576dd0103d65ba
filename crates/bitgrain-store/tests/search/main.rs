//! Nearest-neighbor search: intervals and proofs against brute force on the values as put, changes, filters, bad input.

mod approximate;
mod changes;
mod edges;
mod filters;
mod intervals;
mod places;

use bitgrain_store::{PutOptions, SearchMetric, SearchOptions, StoreConfig, SyncMode, TensorStore, Tier};

/// A store in a temporary folder.
struct World {
    store: TensorStore,
    _folder: tempfile::TempDir,
}

fn world() -> World {
    world_with(StoreConfig::default())
}

fn world_with(config: StoreConfig) -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), StoreConfig { create: true, sync: SyncMode::OnSeal, ..config })
        .expect("a new store");
    World { store, _folder: folder }
}

/// Puts a tensor at a tier.
fn put(store: &TensorStore, id: &str, shape: &[usize], values: &[f32], tier: Tier) {
    let options = PutOptions { tier: Some(tier), ..PutOptions::default() };
    store.put_with(id, shape, values, &options).expect("a valid tensor");
}

/// Score of the definition, in f64.
fn score(metric: SearchMetric, query: &[f32], values: &[f32]) -> f64 {
    let pairs = || query.iter().zip(values).map(|(&q, &v)| (f64::from(q), f64::from(v)));
    let product: f64 = pairs().map(|(q, v)| q * v).sum();
    let norm = |values: &[f32]| values.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    match metric {
        SearchMetric::InnerProduct => product,
        SearchMetric::SquaredL2 => pairs().map(|(q, v)| (q - v) * (q - v)).sum(),
        SearchMetric::Cosine if norm(values) == 0.0 => 0.0,
        SearchMetric::Cosine => product / (norm(query) * norm(values)),
    }
}

/// Whether score `a` is strictly better than `b`.
fn better(metric: SearchMetric, a: f64, b: f64) -> bool {
    if metric == SearchMetric::SquaredL2 { a < b } else { a > b }
}

fn with(metric: SearchMetric) -> SearchOptions {
    SearchOptions { metric, ..SearchOptions::default() }
}

/// Pseudo-random numbers, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A value from -1 to 1.
    #[expect(clippy::cast_precision_loss, reason = "31 random bits")]
    fn unit(&mut self) -> f32 {
        self.next() as f32 / (1_u64 << 30) as f32 - 1.0
    }

    fn vector(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit()).collect()
    }
}

/// Tiers with data.
const TIERS: [Tier; 8] =
    [Tier::Lossless, Tier::F16, Tier::Hot, Tier::Warm, Tier::B6, Tier::WarmAggressive, Tier::B4, Tier::Cold];
