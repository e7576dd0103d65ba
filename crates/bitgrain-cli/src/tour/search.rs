//! Chapter "search": nearest neighbors among the same embeddings, stored at every precision.

use std::time::Instant;

use bitgrain::store::{PutOptions, SearchMetric, SearchOptions, StoreConfig, SyncMode, TensorStore, Tier};
use serde::Serialize;
use serde_json::Value;

use super::block::Block;
use super::{Chapter, Report};
use crate::error::CliError;
use crate::number::{Size, digits};
use crate::table::Table;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "search",
    title: "Search: nearest neighbors among 2,000 stored embeddings, with proven answers",
    run,
};

const EMBEDDINGS: usize = 2000;
const DIMENSIONS: usize = 384;
const CLUSTERS: usize = 50;
const QUERIES: usize = 20;
const K: usize = 10;
const TIERS: [Tier; 5] = [Tier::Lossless, Tier::F16, Tier::Hot, Tier::WarmAggressive, Tier::B4];

#[derive(Debug, Serialize)]
struct Search {
    embeddings: usize,
    dimensions: usize,
    queries: usize,
    tiers: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    tier: &'static str,
    bytes_per_vector: u64,
    /// Share of the true 10 nearest embeddings among the answers.
    recall: f64,
    /// Mean number of proven answers of 10.
    certified: f64,
    /// Number of answers whose true score is outside their interval; must be 0.
    outside: usize,
    milliseconds_per_query: f64,
}

#[expect(clippy::cast_precision_loss, reason = "means of small counts")]
fn run() -> Result<Box<dyn Report>, CliError> {
    let mut random = fastrand::Rng::with_seed(9);
    let mut vector = |center: Option<&Vec<f32>>| -> Vec<f32> {
        let near = |i: usize| center.map_or(0.0, |center| center[i]);
        (0..DIMENSIONS).map(|i| near(i) + random.f32() - 0.5).collect()
    };
    let centers: Vec<Vec<f32>> = (0..CLUSTERS).map(|_| vector(None)).collect();
    let vectors: Vec<Vec<f32>> = (0..EMBEDDINGS).map(|i| vector(Some(&centers[i % CLUSTERS]))).collect();
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|i| vector(Some(&centers[i % CLUSTERS]))).collect();
    let slices: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let truth: Vec<Vec<f64>> = slices.iter().map(|query| vectors.iter().map(|v| dot(query, v)).collect()).collect();
    let mut tiers = Vec::new();
    for tier in TIERS {
        let folder = tempfile::tempdir()?;
        let failed = || CliError::store(folder.path());
        let config = StoreConfig { sync: SyncMode::OnSeal, ..StoreConfig::default() };
        let store = TensorStore::open(folder.path(), config).map_err(failed())?;
        let mut batch = store.batch();
        let options = PutOptions { tier: Some(tier), ..PutOptions::default() };
        for (id, vector) in (0_u128..).zip(&vectors) {
            batch.put_with(id, &[DIMENSIONS], vector, &options).map_err(failed())?;
        }
        batch.commit().map_err(failed())?;
        let options = SearchOptions { metric: SearchMetric::InnerProduct, ..SearchOptions::default() };
        store.search(&slices[..1], K, &options).map_err(failed())?; // reads every record once
        let start = Instant::now();
        let results = store.search(&slices, K, &options).map_err(failed())?;
        let seconds = start.elapsed().as_secs_f64();
        let (mut found, mut outside, mut certified) = (0, 0, 0);
        for (result, truth) in results.iter().zip(&truth) {
            let mut sorted = truth.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            for hit in &result.hits {
                let at: usize = hit.id.to_string().trim_start_matches('#').parse().unwrap_or(0);
                found += usize::from(truth[at] >= sorted[K - 1]);
                outside += usize::from(!(hit.low <= truth[at] && truth[at] <= hit.high));
            }
            certified += result.certified;
        }
        tiers.push(Row {
            tier: tier.name(),
            bytes_per_vector: store.stats().map_err(failed())?.live_bytes / EMBEDDINGS as u64,
            recall: found as f64 / (K * QUERIES) as f64,
            certified: certified as f64 / QUERIES as f64,
            outside,
            milliseconds_per_query: 1000.0 * seconds / QUERIES as f64,
        });
    }
    Ok(Box::new(Search { embeddings: EMBEDDINGS, dimensions: DIMENSIONS, queries: QUERIES, tiers }))
}

impl Report for Search {
    fn blocks(&self) -> Vec<Block> {
        let head = ["tier", "bytes per vector", "recall@10", "proven of 10", "outside interval", "ms per query"];
        let mut table = Table::new(&head, 1);
        for row in &self.tiers {
            let [recall, certified, time] = [row.recall, row.certified, row.milliseconds_per_query].map(digits);
            let (bytes, outside) = (Size(row.bytes_per_vector).to_string(), row.outside.to_string());
            table.row([row.tier.to_owned(), bytes, recall, certified, outside, time]);
        }
        vec![
            Block::text(format!(
                "{} queries for the {K} largest inner products among {} embeddings of {} values. The scan reads the stored \
                 codes. Every answer has an interval that contains its true score; an answer is proven if fewer than {K} \
                 other vectors can have a better one.",
                self.queries, self.embeddings, self.dimensions
            )),
            Block::Table(table),
            Block::chart("Recall@10", &self.tiers, |row| (row.tier.to_owned(), row.recall, digits(row.recall))),
        ]
    }

    fn to_json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}
