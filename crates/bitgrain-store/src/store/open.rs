//! Opening of a store on a storage.

use std::sync::{Arc, Mutex};

use super::links::LinkTable;
use super::{Core, STRIPES, TensorStore};
use crate::index::Index;
use crate::log::{Log, Segments};
use crate::recovery::recover;
use crate::search::Tables;
use crate::storage::Storage;
use crate::{StoreConfig, StoreError, TensorId};

impl TensorStore {
    /// Opens a store on `storage` for reading and writing. The caller ensures that it is the only writer.
    ///
    /// # Errors
    /// Returns the errors of `TensorStore::open`, except those about folders.
    pub fn open_on(storage: Arc<dyn Storage>, config: StoreConfig) -> Result<Self, StoreError> {
        Self::on(storage, config, true)
    }

    pub(super) fn on(storage: Arc<dyn Storage>, config: StoreConfig, writable: bool) -> Result<Self, StoreError> {
        config.check()?;
        let (index, segments) = (Arc::new(Index::new()), Arc::new(Segments::default()));
        let found = recover(&*storage, &config, writable, &index, &segments)?;
        let manifest = Arc::new(Mutex::new(found.manifest));
        let log = writable.then(|| {
            let (storage, manifest) = (Arc::clone(&storage), Arc::clone(&manifest));
            let (index, segments) = (Arc::clone(&index), Arc::clone(&segments));
            Log::new(storage, &config, manifest, found.next_number, found.tail, index, segments)
        });
        let mut links = LinkTable::default();
        for (key, base) in found.needs {
            // Later records override earlier ones; skip tensors that no longer have a policy.
            if index.with(&key, |entry| entry.traits.reconstructable) == Some(true) {
                links.set(&TensorId::of_key(&key), Some(TensorId::of_key(&base)));
            }
        }
        let core = Core {
            storage,
            config,
            index,
            segments,
            log,
            manifest,
            stripes: (0..STRIPES).map(|_| Mutex::new(())).collect(),
            links: Mutex::new(links),
            linking: Mutex::new(()),
            encoders: Mutex::default(),
            frame_runs: super::frame_runs::FrameRuns::default(),
            compacting: Mutex::new(()),
            vectors: Tables::default(),
            report: found.report,
        };
        Ok(Self { core })
    }
}
