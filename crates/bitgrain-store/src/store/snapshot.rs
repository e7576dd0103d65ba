//! Snapshots: read-only views of the store at one moment.

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

/// A read-only view of the store at one moment. Later writes are not visible, and everything in the view stays readable
/// when it is deleted or compacted. Reads do not count as use.
pub struct Snapshot {
    tensors: HashMap<Key, Found>,
    absent: AbsentReads,
    policy: PolicyConfig,
    time: u64,
}

impl TensorStore {
    /// Returns a view of the current state. Takes about as much memory per tensor as the index; segments compacted in
    /// the meantime stay on disk until the snapshot is dropped.
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
    /// Returns the number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Returns whether the snapshot has no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Returns whether a tensor with this id exists.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.tensors.contains_key(&id.into().key())
    }

    /// Returns all ids, sorted.
    #[must_use]
    pub fn ids(&self) -> Vec<TensorId> {
        let mut keys: Vec<&Key> = self.tensors.keys().collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| TensorId::of_key(key)).collect()
    }

    /// Reads a tensor, like [`TensorStore::get`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::get`].
    pub fn get(&self, id: impl Into<TensorId>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        self.reader().get(self.found(&id)?, &id)
    }

    /// Reads a tensor into a buffer, like [`TensorStore::get_into`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::get_into`].
    pub fn get_into(&self, id: impl Into<TensorId>, mut out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        let found = self.found(&id)?;
        match self.reader().read_small(&found.place, &id, out)? {
            Some(provenance) => Ok(provenance),
            None => self.reader().read(found, &id, &mut out).map(|(_, provenance)| provenance),
        }
    }

    /// Reads a range of rows, like [`TensorStore::get_rows`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::get_rows`].
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        self.reader().get_rows(self.found(&id)?, &id, rows)
    }

    /// Reads a range of frames, like [`TensorStore::frames`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::frames`].
    pub fn frames(&self, id: impl Into<TensorId>, range: Range<u64>) -> Result<Vec<Frame>, StoreError> {
        let id = id.into();
        self.reader().frames(self.found(&id)?, &id, range)
    }

    /// Returns the length of each axis, like [`TensorStore::shape`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::shape`].
    pub fn shape(&self, id: impl Into<TensorId>) -> Result<Vec<usize>, StoreError> {
        let id = id.into();
        self.reader().shape(self.found(&id)?, &id)
    }

    /// Returns the number of frames of a temporal tensor.
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::frame_count`].
    pub fn frame_count(&self, id: impl Into<TensorId>) -> Result<u64, StoreError> {
        let id = id.into();
        self.found(&id)?.frame_count(&id)
    }

    /// Returns the metadata of a tensor, like [`TensorStore::meta`].
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::meta`].
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
