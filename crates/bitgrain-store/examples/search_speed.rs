//! Speed of searches of a store.
//!
//! `cargo run --release -p bitgrain-store --example search_speed -- [VECTORS] [TIER...]` prints times for synthetic vectors;
//! `RAYON_NUM_THREADS` sets the number of threads. `bindings/python/bench/search.py --program` starts this program with
//! `serve VECTORS QUERIES TIER...`, files of f32, and requests one measurement per line.

use std::io::{BufRead, Write};
use std::time::Instant;

use bitgrain_store::{PutOptions, SearchOptions, StoreConfig, SyncMode, TensorStore, Tier};

type Error = Box<dyn std::error::Error>;

const COLUMNS: usize = 384;
const CLUSTERS: usize = 2000;
/// Answers per query.
const K: usize = 10;
/// Queries that are searched one after the other.
const ONE_BY_ONE: usize = 16;

/// Numbers that only have to look random.
struct Noise(u64);

impl Noise {
    /// Returns a number with mean 0 and deviation 1, nearly normal.
    fn next(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..4 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 40) as f32 / 16_777_216.0 - 0.5;
        }
        sum * 1.732
    }
}

/// Returns unit vectors in clusters, with a decaying spectrum.
fn synthetic(count: usize) -> Vec<f32> {
    let mut noise = Noise(7);
    let size: Vec<f32> = (0..COLUMNS).map(|i| 1.0 / (1.0 + i as f32 / 40.0)).collect();
    let centers: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| size.iter().map(|size| size * noise.next()).collect()).collect();
    let mut all = Vec::with_capacity(count * COLUMNS);
    for i in 0..count {
        let center = &centers[i * i % 7919 % CLUSTERS];
        let start = all.len();
        all.extend(center.iter().zip(&size).map(|(center, size)| center + 0.6 * size * noise.next()));
        let norm = all[start..].iter().map(|value| value * value).sum::<f32>().sqrt();
        all[start..].iter_mut().for_each(|value| *value /= norm);
    }
    all
}

/// A store of the vectors at one tier.
struct Filled {
    name: String,
    store: TensorStore,
    /// Deleted with the value.
    _folder: tempfile::TempDir,
    /// Seconds for all puts and the first full and approximate searches.
    times: [f64; 3],
}

fn fill(name: String, vectors: &[f32], query: &[f32]) -> Result<Filled, Error> {
    let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or("unknown tier")?;
    let folder = tempfile::tempdir_in(if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "." })?;
    let config = StoreConfig { sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), config)?;
    let options = PutOptions { tier: Some(tier), ..PutOptions::default() };
    let start = Instant::now();
    for (i, vector) in (0_u128..).zip(vectors.chunks_exact(COLUMNS)) {
        store.put_with(i, &[COLUMNS], vector, &options)?;
    }
    let mut times = [start.elapsed().as_secs_f64(), 0.0, 0.0];
    for (time, approximate) in times[1..].iter_mut().zip([false, true]) {
        let start = Instant::now();
        store.search(&[query], K, &SearchOptions { approximate, ..SearchOptions::default() })?;
        *time = start.elapsed().as_secs_f64();
    }
    Ok(Filled { name, store, _folder: folder, times })
}

impl Filled {
    /// Searches some queries one by one, or all at once. Returns the time per query and the answers.
    fn search(&self, queries: &[&[f32]], approximate: bool, one_by_one: bool) -> Result<(f64, Vec<String>), Error> {
        let options = SearchOptions { approximate, ..SearchOptions::default() };
        let queries = if one_by_one { &queries[..ONE_BY_ONE.min(queries.len())] } else { queries };
        let start = Instant::now();
        let found = if one_by_one {
            let one = |query: &&[f32]| Ok::<_, Error>(self.store.search(&[*query], K, &options)?.swap_remove(0));
            queries.iter().map(one).collect::<Result<Vec<_>, _>>()?
        } else {
            self.store.search(queries, K, &options)?
        };
        let time = start.elapsed().as_secs_f64() / queries.len() as f64;
        Ok((time, found.into_iter().flat_map(|found| found.hits).map(|hit| hit.id.to_string()).collect()))
    }
}

fn read_floats(path: &str) -> Result<Vec<f32>, Error> {
    Ok(std::fs::read(path)?.as_chunks().0.iter().map(|&le| f32::from_le_bytes(le)).collect())
}

/// Answers lines `TIER full|approximate one|many` with the time per query and the ids of the answers.
fn serve(vectors: &str, queries: &str, tiers: &[String]) -> Result<(), Error> {
    let (vectors, queries) = (read_floats(vectors)?, read_floats(queries)?);
    let queries: Vec<&[f32]> = queries.chunks_exact(COLUMNS).collect();
    let mut out = std::io::stdout().lock();
    let mut stores = Vec::new();
    for tier in tiers {
        let filled = fill(tier.clone(), &vectors, queries[0])?;
        let [put, full, approximate] = filled.times;
        let bytes = filled.store.stats()?.live_bytes;
        writeln!(out, "{tier} {bytes} {put} {full} {approximate}")?;
        stores.push(filled);
    }
    out.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let [tier, kind, number] = words[..] else { return Err("expected three words".into()) };
        let filled = stores.iter().find(|filled| filled.name == tier).ok_or("unknown tier")?;
        let (time, ids) = filled.search(&queries, kind == "approximate", number == "one")?;
        writeln!(out, "{time} {}", ids.join(" "))?;
        out.flush()?;
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, vectors, queries, tiers @ ..] = &arguments[..]
        && command == "serve"
    {
        return serve(vectors, queries, tiers);
    }
    let count = arguments.first().map_or(Ok(200_000), |count| count.parse())?;
    let default = ["hot", "b4", "cold"].map(str::to_owned);
    let tiers = if arguments.len() > 1 { &arguments[1..] } else { &default[..] };
    let all = synthetic(count + 64);
    let (vectors, queries) = all.split_at(count * COLUMNS);
    let queries: Vec<&[f32]> = queries.chunks_exact(COLUMNS).collect();
    println!("{count} x {COLUMNS}, {} thread(s)", rayon::current_num_threads());
    for tier in tiers {
        let filled = fill(tier.clone(), vectors, queries[0])?;
        println!("{tier}: put, first full and first approximate search {:.2?} s", filled.times);
        for (name, approximate) in [("full", false), ("approximate", true)] {
            let (mut one, mut many) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..5 {
                one = one.min(filled.search(&queries, approximate, true)?.0);
                many = many.min(filled.search(&queries, approximate, false)?.0);
            }
            println!("  {name}: 1 query {:.2} ms, 64 at once {:.0} queries/s", 1000.0 * one, 1.0 / many);
        }
    }
    Ok(())
}
