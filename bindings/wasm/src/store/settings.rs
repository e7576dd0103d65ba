//! Options and reports of the store.

use bitgrain::store::{Provenance, PutOptions, StoreStats, TensorMeta, Tier};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Options of one `put`. */
export interface PutOptions {
  /** Tier, such as `hot` (8 bits) or `cold` (3 bits); chosen by the policy by default. */
  tier?: string;
  /** Minimum tier from now on. */
  pin?: string;
  /** Largest error from now on. */
  maxError?: number;
  /** Store the values unchanged. */
  lossless?: boolean;
  /** Metadata pairs. */
  user?: [key: string, value: string][];
}

/** Tier and error of stored values. */
export interface Provenance {
  tier: string;
  bits: number;
  bound: number;
  measured: number;
}

/** Metadata of a tensor. Times are in milliseconds since 1970. */
export interface TensorMeta extends Provenance {
  id: string;
  shape: number[];
  storedBytes: number;
  created: number;
  updated: number;
  accessed: number;
  accesses: number;
  pinned: string | null;
  maxError: number | null;
  user: [key: string, value: string][];
}

/** Statistics of a store. */
export interface StoreStats {
  tensors: number;
  segments: number;
  fileBytes: number;
  liveBytes: number;
  garbageBytes: number;
}
"#;

/// Options of a `put`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PutSettings {
    tier: Option<String>,
    pin: Option<String>,
    max_error: Option<f32>,
    lossless: bool,
    user: Option<Vec<(String, String)>>,
}

impl PutSettings {
    pub(super) fn options(self) -> Result<PutOptions> {
        Ok(PutOptions {
            tier: self.tier.as_deref().map(tier).transpose()?,
            pin: self.pin.as_deref().map(tier).transpose()?,
            max_error: self.max_error,
            lossless: self.lossless,
            user: self.user,
            ..PutOptions::default()
        })
    }
}

fn tier(name: &str) -> Result<Tier> {
    let names = || Tier::ALL.map(Tier::name).join(", ");
    let found = Tier::ALL.into_iter().find(|tier| tier.name() == name);
    found.ok_or_else(|| js(format!("unknown tier `{name}`; choose one of {}", names())))
}

#[derive(Serialize)]
pub(super) struct ProvenanceReport {
    tier: String,
    bits: u8,
    bound: f32,
    measured: f32,
}

impl From<Provenance> for ProvenanceReport {
    fn from(stored: Provenance) -> Self {
        Self { tier: stored.tier.name().to_owned(), bits: stored.bits, bound: stored.bound, measured: stored.measured }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MetaReport {
    id: String,
    shape: Vec<usize>,
    #[serde(flatten)]
    provenance: ProvenanceReport,
    stored_bytes: u64,
    created: u64,
    updated: u64,
    accessed: u64,
    accesses: u64,
    pinned: Option<String>,
    max_error: Option<f32>,
    user: Vec<(String, String)>,
}

impl From<TensorMeta> for MetaReport {
    fn from(meta: TensorMeta) -> Self {
        Self {
            id: meta.id.to_string(),
            shape: meta.shape,
            provenance: meta.provenance.into(),
            stored_bytes: meta.stored_bytes,
            created: meta.created,
            updated: meta.updated,
            accessed: meta.accessed,
            accesses: meta.accesses,
            pinned: meta.pinned.map(|tier| tier.name().to_owned()),
            max_error: meta.max_error,
            user: meta.user,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatsReport {
    tensors: usize,
    segments: usize,
    file_bytes: u64,
    live_bytes: u64,
    garbage_bytes: u64,
}

impl From<StoreStats> for StatsReport {
    fn from(stats: StoreStats) -> Self {
        Self {
            tensors: stats.tensors,
            segments: stats.segments,
            file_bytes: stats.file_bytes,
            live_bytes: stats.live_bytes,
            garbage_bytes: stats.garbage_bytes,
        }
    }
}
