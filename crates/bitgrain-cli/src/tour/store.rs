//! Chapter "store": a simulated week of skewed reads, and the resulting precision of every tensor.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bitgrain::store::policy::{AbsentRule, PolicyConfig, Preset};
use bitgrain::store::{Clock, StoreConfig, StoreStats, SyncMode, TensorStore, TierStats};
use serde::Serialize;
use serde_json::{Value, json};

use super::block::Block;
use super::{Chapter, Report};
use crate::cmd::store::chart;
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

pub(crate) const CHAPTER: Chapter =
    Chapter { name: "store", title: "Store: precision of 3,000 embeddings after a week of reads", run };

const EMBEDDINGS: usize = 3000;
const DIMENSIONS: usize = 384;
/// One tick every ten minutes for a week.
const TICKS: u64 = 7 * 24 * 6;
const TEN_MINUTES: u64 = 600_000;
const READS_PER_TICK: u64 = 100;
/// An arbitrary start, in milliseconds since 1970.
const START: u64 = 1_700_000_000_000;

/// A clock that is advanced by the simulation.
struct Simulated(AtomicU64);

impl Clock for Simulated {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Serialize)]
struct Store {
    embeddings: usize,
    dimensions: usize,
    reads: u64,
    moves: usize,
    f32_bytes: u64,
    bytes_at_first: u64,
    bytes_after: u64,
    seconds: f64,
    groups: Vec<Group>,
    /// The same week under each policy.
    policies: Vec<Week>,
    /// Number of tensors whose error exceeds their bound; must be 0.
    beyond_their_bound: usize,
    #[serde(skip)]
    stats: StoreStats,
}

/// The week under one policy.
#[derive(Debug, Serialize)]
struct Week {
    policy: String,
    bytes: u64,
    /// Mean over all reads of the largest error in the embedding, relative to its largest value.
    error_per_read: f64,
    moves: usize,
}

/// Embeddings with similar numbers of reads.
#[derive(Debug, Serialize)]
struct Group {
    name: &'static str,
    tensors: usize,
    reads: u64,
    mean_bits: f64,
    mean_cosine: f64,
}

fn run() -> Result<Box<dyn Report>, CliError> {
    let mut random = fastrand::Rng::with_seed(7);
    let vectors: Vec<Vec<f32>> = (0..EMBEDDINGS).map(|_| embedding(&mut random)).collect();
    let adr019 = live(&vectors, Preset::Adr019)?;
    let careful = live(&vectors, Preset::Careful)?;
    // As many bytes as ADR-019 takes, distributed by the error of reads.
    let preset = Preset::Budget(adr019.stats.live_bytes);
    let budget = live(&vectors, preset)?;
    let week = |preset: Preset, lived: &Lived| Week {
        policy: preset.to_string(),
        bytes: lived.stats.live_bytes,
        error_per_read: lived.error_per_read,
        moves: lived.moves,
    };
    Ok(Box::new(Store {
        embeddings: EMBEDDINGS,
        dimensions: DIMENSIONS,
        reads: careful.reads,
        moves: careful.moves,
        f32_bytes: (EMBEDDINGS * DIMENSIONS * 4) as u64,
        bytes_at_first: careful.bytes_at_first,
        bytes_after: careful.stats.live_bytes,
        seconds: careful.seconds,
        policies: vec![week(Preset::Careful, &careful), week(Preset::Adr019, &adr019), week(preset, &budget)],
        beyond_their_bound: [&careful, &adr019, &budget].iter().map(|lived| lived.beyond_their_bound).sum(),
        groups: careful.groups,
        stats: careful.stats,
    }))
}

/// A store after its week.
struct Lived {
    reads: u64,
    moves: usize,
    bytes_at_first: u64,
    seconds: f64,
    error_per_read: f64,
    groups: Vec<Group>,
    beyond_their_bound: usize,
    stats: StoreStats,
}

/// Runs the week under a policy. The reads are the same for each.
fn live(vectors: &[Vec<f32>], preset: Preset) -> Result<Lived, CliError> {
    let folder = tempfile::tempdir()?;
    let failed = || CliError::store(folder.path());
    let clock = Arc::new(Simulated(AtomicU64::new(START)));
    // The store holds the only copy of these embeddings, so they are never evicted.
    let policy = || PolicyConfig { absent: AbsentRule::Never, ..preset.config() };
    let config =
        || StoreConfig { clock: clock.clone(), sync: SyncMode::OnSeal, policy: policy(), ..StoreConfig::default() };
    let start = Instant::now();
    let store = TensorStore::open(folder.path(), config()).map_err(failed())?;
    let mut batch = store.batch();
    for (id, vector) in (0_u128..).zip(vectors) {
        batch.put(id, &[DIMENSIONS], vector).map_err(failed())?;
    }
    batch.commit().map_err(failed())?;
    let bytes_at_first = store.stats().map_err(failed())?.live_bytes;

    let mut random = fastrand::Rng::with_seed(8);
    let largest: Vec<f32> = vectors.iter().map(|vector| vector.iter().fold(0.0, |max, x| x.abs().max(max))).collect();
    let mut reads = vec![0_u64; vectors.len()];
    let (mut moves, mut errors) = (0, 0.0);
    let mut values = vec![0.0; DIMENSIONS];
    for tick in 0..TICKS {
        for read in 0..READS_PER_TICK {
            clock.0.store(START + tick * TEN_MINUTES + read * TEN_MINUTES / READS_PER_TICK, Ordering::Relaxed);
            let id = popular(&mut random);
            reads[id] += 1;
            store.get_into(id as u128, &mut values).map_err(failed())?;
            errors += f64::from(farthest(&vectors[id], &values) / largest[id]);
        }
        let now = START + (tick + 1) * TEN_MINUTES;
        clock.0.store(now, Ordering::Relaxed);
        moves += store.tick(now).map_err(failed())?.moves.len();
    }
    store.compact(bitgrain::store::CompactOptions::default()).map_err(failed())?;
    store.close().map_err(failed())?;

    // Reopen the store, to measure the data as another process would read it.
    let store = TensorStore::open(folder.path(), config()).map_err(failed())?;
    let stats = store.stats().map_err(failed())?;
    let seconds = start.elapsed().as_secs_f64();
    let (groups, beyond_their_bound) = measure_groups(&store, vectors, &reads).map_err(failed())?;
    let reads: u64 = reads.iter().sum();
    let error_per_read = errors / (TICKS * READS_PER_TICK) as f64;
    Ok(Lived { reads, moves, bytes_at_first, seconds, error_per_read, groups, beyond_their_bound, stats })
}

/// Returns the largest difference between two vectors.
fn farthest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Returns a vector near one of 20 cluster centers, as sentence embeddings on a few subjects are.
fn embedding(random: &mut fastrand::Rng) -> Vec<f32> {
    let centre = random.u64(..20);
    let mut centres = fastrand::Rng::with_seed(centre);
    let normal = |random: &mut fastrand::Rng| (0..6).map(|_| random.f32() - 0.5).sum::<f32>();
    (0..DIMENSIONS).map(|_| 0.05 * (normal(&mut centres) + normal(random))).collect()
}

/// Draws an id by Zipf's law, approximately: the first embedding is read half as often again as the second.
fn popular(random: &mut fastrand::Rng) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the number of embeddings")]
    let id = (EMBEDDINGS as f64 + 1.0).powf(random.f64()) as usize - 1;
    id.min(EMBEDDINGS - 1)
}

/// Reads all tensors; returns precision and cosine of each group, and the number of tensors that exceed their bound.
fn measure_groups(
    store: &TensorStore,
    vectors: &[Vec<f32>],
    reads: &[u64],
) -> Result<(Vec<Group>, usize), bitgrain::store::StoreError> {
    let mut order: Vec<usize> = (0..vectors.len()).collect();
    order.sort_by_key(|&id| (std::cmp::Reverse(reads[id]), id));
    let bounds =
        [("most read 1 %", 0, 30), ("next 9 %", 30, 300), ("next 40 %", 300, 1500), ("other half", 1500, 3000)];
    let (mut groups, mut beyond) = (Vec::new(), 0);
    for (name, from, to) in bounds {
        let ids = &order[from..to];
        let (mut bits, mut cosines) = (0.0, 0.0);
        for &id in ids {
            let tensor = store.get(id as u128)?;
            beyond += usize::from(farthest(&vectors[id], &tensor.values) > tensor.provenance.bound);
            bits += f64::from(tensor.provenance.bits);
            cosines += cosine(&vectors[id], &tensor.values);
        }
        let count = ids.len() as f64;
        let reads = ids.iter().map(|&id| reads[id]).sum();
        groups.push(Group { name, tensors: ids.len(), reads, mean_bits: bits / count, mean_cosine: cosines / count });
    }
    Ok((groups, beyond))
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

impl Report for Store {
    fn blocks(&self) -> Vec<Block> {
        let mut table = Table::new(&["embeddings", "tensors", "reads", "bits", "cosine"], 1);
        for group in &self.groups {
            let [bits, cosine] = [group.mean_bits, group.mean_cosine].map(digits);
            table.row([group.name.to_owned(), group.tensors.to_string(), group.reads.to_string(), bits, cosine]);
        }
        let mut policies = Table::new(&["policy", "bytes", "error per read", "moves"], 1);
        for week in &self.policies {
            let error = format!("{} %", digits(100.0 * week.error_per_read));
            policies.row([week.policy.clone(), Size(week.bytes).to_string(), error, week.moves.to_string()]);
        }
        let mut tiers = Vec::new();
        // Writing to a vector cannot fail.
        let _ = chart::write(&self.stats, &mut tiers);
        let used: Vec<&TierStats> = self.stats.tiers.iter().filter(|tier| tier.bytes > 0).collect();
        #[expect(clippy::cast_precision_loss, reason = "the length of a bar")]
        let bytes = |tier: &&TierStats| (tier.tier.name().to_owned(), tier.bytes as f64, Size(tier.bytes).to_string());
        vec![
            Block::text(format!(
                "{} reads in a simulated week under the default policy, one tick every ten minutes; {} tensors were re-encoded with fewer bits; {:.1} s in total.",
                self.reads, self.moves, self.seconds
            )),
            Block::Terminal(String::from_utf8_lossy(&tiers).into_owned()),
            Block::chart("Bytes per tier", &used, bytes),
            Block::chart("Mean bits per value", &self.groups, |group| {
                (group.name.to_owned(), group.mean_bits, digits(group.mean_bits))
            }),
            Block::Table(table),
            Block::text("The same week under each policy; the budget is the size that `adr019` reaches.".to_owned()),
            Block::Table(policies),
            Block::text(format!(
                "{} of f32 took {} after the first write and take {} now. After reopening the store, {} tensors have an error \
                 above their bound.",
                Size(self.f32_bytes),
                Size(self.bytes_at_first),
                Size(self.bytes_after),
                if self.beyond_their_bound == 0 { "no".to_owned() } else { self.beyond_their_bound.to_string() },
            )),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        let tier = |tier: &bitgrain::store::TierStats| json!({"tier": tier.tier.name(), "tensors": tier.tensors, "bytes": tier.bytes, "worst_bound": tier.worst_bound});
        value["tiers"] = self.stats.tiers.iter().map(tier).collect();
        Ok(value)
    }
}
