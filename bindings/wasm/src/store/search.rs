//! Options and results of searches.

use bitgrain::store::{SearchHit, SearchMetric, SearchOptions, SearchResult, TensorId};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Options of a search. */
export interface SearchOptions {
  /** Inner product (default), cosine, or squared Euclidean distance. */
  metric?: "ip" | "cosine" | "l2";
  /** Search only tensors whose id starts with this. */
  prefix?: string;
  /** Search only these tensors. */
  ids?: string[];
  /** Search only tensors with all of these metadata pairs. */
  filter?: [key: string, value: string][];
  /** Read only vectors whose estimate from one bit per value is good: faster in a large store, misses few answers. */
  approximate?: boolean;
  /** Prove as many answers as the stored data allows, which takes longer. */
  exact?: boolean;
}

/** An answer of a search. */
export interface SearchHit {
  id: string;
  /** Row of a matrix; 0 for a vector. */
  row: number;
  /** Score of the stored vector. */
  score: number;
  /** The score of the vector as it was put is between `low` and `high`; `null` means unbounded. */
  low: number | null;
  high: number | null;
  /** Whether the vector as it was put is proven to be among the best. */
  certified: boolean;
  tier: string;
}

/** Answers of a search, best first. */
export interface SearchResult {
  hits: SearchHit[];
  /** Number of answers that are proven to be among the best. */
  certified: number;
  /** Number of selected tensors without data. */
  skipped: number;
}
"#;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SearchSettings {
    metric: Option<String>,
    prefix: Option<String>,
    ids: Option<Vec<String>>,
    filter: Vec<(String, String)>,
    approximate: bool,
    exact: bool,
}

impl SearchSettings {
    pub(super) fn options(self) -> Result<SearchOptions> {
        Ok(SearchOptions {
            metric: self.metric.map_or(Ok(SearchMetric::default()), |name| name.parse()).map_err(js)?,
            prefix: self.prefix,
            ids: self.ids.map(|ids| ids.into_iter().map(TensorId::from).collect()),
            filter: self.filter,
            approximate: self.approximate,
            exact: self.exact,
        })
    }
}

#[derive(Serialize)]
struct HitReport {
    id: String,
    row: usize,
    score: f64,
    low: f64,
    high: f64,
    certified: bool,
    tier: &'static str,
}

impl From<SearchHit> for HitReport {
    fn from(hit: SearchHit) -> Self {
        let SearchHit { id, row, score, low, high, certified, tier } = hit;
        Self { id: id.to_string(), row, score, low, high, certified, tier: tier.name() }
    }
}

#[derive(Serialize)]
pub(super) struct ResultReport {
    hits: Vec<HitReport>,
    certified: usize,
    skipped: usize,
}

impl From<SearchResult> for ResultReport {
    fn from(result: SearchResult) -> Self {
        let SearchResult { hits, certified, skipped } = result;
        Self { hits: hits.into_iter().map(HitReport::from).collect(), certified, skipped }
    }
}
