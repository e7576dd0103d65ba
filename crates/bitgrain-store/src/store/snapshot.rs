//! A store as it was at one moment.

use std::collections::HashMap;
use std::ops::Range;

use super::TensorStore;
use super::frames::Frame;
use super::get::StoredTensor;
use super::lookup::{Found, Lookup};
use super::reader::Reader;
use crate::id::Key;
use crate::policy::PolicyConfig;
use crate::{AbsentReads, Provenance, StoreError, TensorId, TensorMeta};

/// A store as it was at one moment, for reading. It sees none of what is written later, and what it sees stays readable
/// whatever is deleted or compacted. Reading from it does not count as use.
pub struct Snapshot {
    tensors: HashMap<Key, Found>,
    absent: AbsentReads,
    policy: PolicyConfig,
    time: u64,
}

impl TensorStore {
    /// The store as it is now. Takes memory for each tensor, about as much as the index does; files that are compacted
    /// meanwhile stay on the disk for as long as it is there.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let core = &self.core;
        let shards = core.index.freeze();
        let entries = shards.iter().flat_map(|shard| shard.entries());
        let tensors = entries.map(|entry| (entry.key.clone(), Found::of(entry))).collect();
        drop(shards);
        Snapshot { tensors, absent: core.config.absent_reads, policy: core.config.policy.clone(), time: core.now() }
    }
}

impl Snapshot {
    /// Number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// True if there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// True if there is a tensor with this id.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.tensors.contains_key(&id.into().key())
    }

    /// All ids, in order.
    #[must_use]
    pub fn ids(&self) -> Vec<TensorId> {
        let mut keys: Vec<&Key> = self.tensors.keys().collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| TensorId::of_key(key)).collect()
    }

    /// As [`TensorStore::get`].
    ///
    /// # Errors
    /// As there.
    pub fn get(&self, id: impl Into<TensorId>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        self.reader().get(self.found(&id)?, &id)
    }

    /// As [`TensorStore::get_into`].
    ///
    /// # Errors
    /// As there.
    pub fn get_into(&self, id: impl Into<TensorId>, mut out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        let found = self.found(&id)?;
        match self.reader().read_small(&found.place, &id, out)? {
            Some(provenance) => Ok(provenance),
            None => self.reader().read(found, &id, &mut out).map(|(_, provenance)| provenance),
        }
    }

    /// As [`TensorStore::get_rows`].
    ///
    /// # Errors
    /// As there.
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        self.reader().get_rows(self.found(&id)?, &id, rows)
    }

    /// As [`TensorStore::frames`].
    ///
    /// # Errors
    /// As there.
    pub fn frames(&self, id: impl Into<TensorId>, range: Range<u64>) -> Result<Vec<Frame>, StoreError> {
        let id = id.into();
        self.reader().frames(self.found(&id)?, &id, range)
    }

    /// As [`TensorStore::shape`].
    ///
    /// # Errors
    /// As there.
    pub fn shape(&self, id: impl Into<TensorId>) -> Result<Vec<usize>, StoreError> {
        let id = id.into();
        self.reader().shape(self.found(&id)?, &id)
    }

    /// Number of frames of a temporal tensor.
    ///
    /// # Errors
    /// As [`TensorStore::frame_count`].
    pub fn frame_count(&self, id: impl Into<TensorId>) -> Result<u64, StoreError> {
        let id = id.into();
        self.found(&id)?.frame_count(&id)
    }

    /// As [`TensorStore::meta`].
    ///
    /// # Errors
    /// As there.
    pub fn meta(&self, id: impl Into<TensorId>) -> Result<TensorMeta, StoreError> {
        let id = id.into();
        self.reader().meta(self.found(&id)?, &id, self.time, &self.policy)
    }

    fn found(&self, id: &TensorId) -> Result<&Found, StoreError> {
        self.tensors.get(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })
    }

    fn reader(&self) -> Reader<'_> {
        Reader { find: self, absent: self.absent }
    }
}

impl Lookup for Snapshot {
    fn lookup(&self, id: &TensorId) -> Option<Found> {
        self.tensors.get(&id.key()).cloned()
    }
}
