//! `TensorStore`: tensors at rest.

mod clock;
mod opfs;
mod search;
mod settings;

use std::sync::Arc;

use bitgrain::store::storage::{MemoryFolder, Storage};
use bitgrain::store::{CompactOptions, Dependents, StoreConfig, StoredTensor as Read, TensorStore as Store};
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};
use crate::options;
use clock::DateClock;
use opfs::{Pool, SLOTS};
use search::{ResultReport, SearchSettings};
use settings::{MetaReport, PutSettings, StatsReport};

/// A store of tensors, whose precision follows their use within a known error bound.
#[wasm_bindgen]
pub struct TensorStore {
    /// `None` after `close`.
    store: Option<Store>,
    /// Files of a store in the private file system. Dropped after the store, which writes to them when it is closed.
    pool: Option<Pool>,
}

impl std::fmt::Debug for TensorStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorStore").field("open", &self.store.is_some()).finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl TensorStore {
    /// Creates an empty store in memory.
    #[wasm_bindgen(js_name = inMemory)]
    pub fn in_memory() -> Result<Self> {
        Self::open_on(Arc::new(MemoryFolder::default()), None)
    }

    /// Opens a store in the private file system of the page's origin, or creates it. Only workers can do this, and only one
    /// at a time.
    #[wasm_bindgen(js_name = openPrivate)]
    pub async fn open_private(name: String) -> Result<Self> {
        let pool = Pool::open(&name, SLOTS).await?;
        Self::open_on(pool.storage(), Some(pool))
    }

    /// Makes room for at least `files` files in the private file system. A store has a file for every 64 MB, and needs a few
    /// more.
    pub async fn reserve(&mut self, files: u32) -> Result<()> {
        match &self.pool {
            Some(pool) => pool.reserve(files).await,
            None => Ok(()),
        }
    }

    /// Stores a tensor under an id and returns the tier, the bits and the error bound that it got.
    #[wasm_bindgen(unchecked_return_type = "Provenance")]
    pub fn put(
        &self,
        id: &str,
        values: &[f32],
        shape: Option<Vec<u32>>,
        #[wasm_bindgen(unchecked_optional_param_type = "PutOptions")] options: JsValue,
    ) -> Result<JsValue> {
        let settings: PutSettings = options::read(&options)?;
        let shape = shape.map_or_else(|| vec![values.len()], |dims| dims.into_iter().map(|dim| dim as usize).collect());
        let stored = self.store()?.put_with(id, &shape, values, &settings.options()?).map_err(js)?;
        options::write(&settings::ProvenanceReport::from(stored))
    }

    /// Reads a tensor.
    pub fn get(&self, id: &str) -> Result<StoredTensor> {
        self.store()?.get(id).map(StoredTensor).map_err(js)
    }

    /// Finds the `k` vectors nearest to a query, best first, among tensors with as many values and rows of matrices with
    /// as many columns.
    #[wasm_bindgen(unchecked_return_type = "SearchResult")]
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        #[wasm_bindgen(unchecked_optional_param_type = "SearchOptions")] options: JsValue,
    ) -> Result<JsValue> {
        let settings: SearchSettings = options::read(&options)?;
        let mut found = self.store()?.search(&[query], k, &settings.options()?).map_err(js)?;
        options::write(&found.pop().map(ResultReport::from))
    }

    /// Returns whether the store has a tensor.
    pub fn has(&self, id: &str) -> Result<bool> {
        Ok(self.store()?.contains(id))
    }

    /// Deletes a tensor that no other is reconstructed from.
    pub fn delete(&self, id: &str) -> Result<()> {
        self.store()?.delete(id, Dependents::Refuse).map_err(js)
    }

    /// Returns all ids that start with a prefix, in order.
    pub fn ids(&self, prefix: Option<String>) -> Result<Vec<String>> {
        Ok(self.store()?.ids(prefix.as_deref()).iter().map(ToString::to_string).collect())
    }

    /// Returns the metadata of a tensor.
    #[wasm_bindgen(unchecked_return_type = "TensorMeta")]
    pub fn meta(&self, id: &str) -> Result<JsValue> {
        options::write(&MetaReport::from(self.store()?.meta(id).map_err(js)?))
    }

    /// Computes statistics.
    #[wasm_bindgen(unchecked_return_type = "StoreStats")]
    pub fn stats(&self) -> Result<JsValue> {
        options::write(&StatsReport::from(self.store()?.stats().map_err(js)?))
    }

    /// Re-encodes rarely used tensors with fewer bits; call it periodically. Returns the number of tensors moved. `now` is
    /// in milliseconds since 1970.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates; the store checks times"
    )]
    pub fn tick(&self, now: Option<f64>) -> Result<usize> {
        let now = now.unwrap_or_else(js_sys::Date::now) as u64;
        Ok(self.store()?.tick(now).map_err(js)?.moves.len())
    }

    /// Reclaims the space of deleted and replaced tensors, in segments with at least a quarter of it, or in all.
    pub fn compact(&self, all: Option<bool>) -> Result<()> {
        let options = CompactOptions { all: all.unwrap_or(false), ..CompactOptions::default() };
        self.store()?.compact(options).map(drop).map_err(js)
    }

    /// Makes all writes durable.
    pub fn flush(&self) -> Result<()> {
        self.store()?.flush().map_err(js)
    }

    /// Closes the store; later calls throw.
    pub fn close(&mut self) -> Result<()> {
        let closed = self.store.take().map_or(Ok(()), |store| store.close().map_err(js));
        self.pool = None;
        closed
    }

    /// Number of tensors.
    #[wasm_bindgen(getter)]
    pub fn size(&self) -> Result<usize> {
        Ok(self.store()?.len())
    }
}

impl TensorStore {
    fn open_on(storage: Arc<dyn Storage>, pool: Option<Pool>) -> Result<Self> {
        let config = StoreConfig { clock: Arc::new(DateClock), ..StoreConfig::default() };
        Ok(Self { store: Some(Store::open_on(storage, config).map_err(js)?), pool })
    }

    fn store(&self) -> Result<&Store> {
        self.store.as_ref().ok_or_else(|| js("the store is closed; open it again"))
    }
}

/// A tensor read from a store.
#[wasm_bindgen]
#[derive(Debug)]
pub struct StoredTensor(Read);

#[wasm_bindgen]
impl StoredTensor {
    /// Copy of the values, row-major.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn values(&self) -> Vec<f32> {
        self.0.values.clone()
    }

    /// Length of each axis.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.0.shape.clone()
    }

    /// Tier of the stored data, such as `hot`.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn tier(&self) -> String {
        self.0.provenance.tier.name().to_owned()
    }

    /// Bits per stored value.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.0.provenance.bits
    }

    /// Error bound: no value is further from what was put.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn bound(&self) -> f32 {
        self.0.provenance.bound
    }
}
