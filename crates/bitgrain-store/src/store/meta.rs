//! Metadata queries.

use bitgrain_formats::segment::{Encoding, FrameValues};

use super::TensorStore;
use super::frame_head::tier_of;
use super::lookup::Found;
use super::reader::{Reader, provenance_of};
use crate::id::Key;
use crate::policy::{PolicyConfig, score};
use crate::{Provenance, StoreError, TensorId, TensorMeta, Tier, record};

impl TensorStore {
    /// Returns the metadata of a tensor. Does not count as a use.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`], [`StoreError::Damaged`] or [`StoreError::Io`].
    pub fn meta(&self, id: impl Into<TensorId>) -> Result<TensorMeta, StoreError> {
        let (id, core) = (id.into(), &self.core);
        let found = core.found(&id, &id.key())?;
        core.reader().meta(&found, &id, core.now(), &core.config.policy)
    }

    /// Returns the length of each axis; of one frame if the tensor is temporal. Does not count as a use.
    ///
    /// # Errors
    /// Returns the errors of [`meta`](Self::meta).
    pub fn shape(&self, id: impl Into<TensorId>) -> Result<Vec<usize>, StoreError> {
        let (id, core) = (id.into(), &self.core);
        core.reader().shape(&core.found(&id, &id.key())?, &id)
    }

    /// Returns all ids, or the names that start with `prefix`, sorted: names before numbers.
    #[must_use]
    pub fn ids(&self, prefix: Option<&str>) -> Vec<TensorId> {
        self.keys(prefix).iter().map(|key| TensorId::of_key(key)).collect()
    }

    /// Iterates over the metadata of all tensors, or of those whose name starts with `prefix`, sorted by id: names
    /// before numbers. Tensors put during the iteration may be missing; tensors deleted during it are skipped.
    pub fn scan(&self, prefix: Option<&str>) -> Scan<'_> {
        Scan { store: self, keys: self.keys(prefix).into_iter() }
    }

    /// Returns the keys of tensors, sorted.
    fn keys(&self, prefix: Option<&str>) -> Vec<Key> {
        let start = prefix.map(|prefix| TensorId::from(prefix).key());
        let mut keys = Vec::new();
        self.core.index.for_each(|entry| {
            if start.as_ref().is_none_or(|start| entry.key.starts_with(start)) {
                keys.push(entry.key.clone());
            }
        });
        keys.sort_unstable(); // keys sort like ids
        keys
    }
}

/// Iterator over the metadata of tensors; created by [`TensorStore::scan`].
pub struct Scan<'s> {
    store: &'s TensorStore,
    keys: std::vec::IntoIter<Key>,
}

impl Iterator for Scan<'_> {
    type Item = Result<TensorMeta, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let core = &self.store.core;
        loop {
            let key = self.keys.next()?;
            if let Some(found) = core.find(&key) {
                let id = TensorId::of_key(&key);
                return Some(core.reader().meta(&found, &id, core.now(), &core.config.policy));
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn meta(
        &self,
        found: &Found,
        id: &TensorId,
        now: u64,
        policy: &PolicyConfig,
    ) -> Result<TensorMeta, StoreError> {
        record::with_buffer(|buffer| {
            let view = record::read_head(&found.place, Some(id), buffer)?;
            let head = record::tensor_head(&view, &found.place, id)?;
            let mut updated = head.updated;
            let provenance = match head.encoding {
                Encoding::Absent => {
                    let bound = f32::INFINITY;
                    Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth: 0 }
                }
                Encoding::Frames => {
                    let (worst, last) = self.worst_frame(found, id)?;
                    updated = last.max(updated);
                    worst
                }
                Encoding::Raw | Encoding::Half | Encoding::Blocks(_) => provenance_of(head),
            };
            Ok(TensorMeta {
                id: id.clone(),
                shape: head.shape.clone(),
                provenance,
                wanted: found.traits.pinned.filter(|pin| *pin != Tier::Absent).unwrap_or(found.wanted),
                stored_bytes: found.bytes(),
                created: head.created,
                updated,
                accessed: found.usage.last,
                accesses: found.usage.accesses,
                score: score(&found.usage, now, policy),
                pinned: found.traits.pinned,
                max_error: head.max_error,
                frames: found.frame_count(id).ok(),
                reconstructable: head.reconstruct.is_some(),
                user: head.user.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
            })
        })
    }

    /// Returns the errors of the worst frame and the time of the last one.
    pub(super) fn worst_frame(&self, found: &Found, id: &TensorId) -> Result<(Provenance, u64), StoreError> {
        let mut worst = Provenance { tier: Tier::Lossless, bits: 32, bound: 0.0, measured: 0.0, depth: 0 };
        let (mut last, mut buffer) = (0, Vec::new());
        for place in found.frames.iter().flat_map(|frames| frames.iter()) {
            let view = record::read_head(place, Some(id), &mut buffer)?;
            let head = record::frame_head(&view, place, id)?;
            last = view.head.stamp.time;
            let tier = tier_of(head);
            if tier > worst.tier {
                (worst.tier, worst.bits) = (tier, tier.bits());
            }
            let (bound, measured) = match head.values {
                FrameValues::Absent => (f32::INFINITY, f32::INFINITY),
                _ => (head.accuracy.bound(), head.accuracy.measured()),
            };
            worst.bound = worst.bound.max(bound);
            worst.measured = worst.measured.max(measured);
        }
        Ok((worst, last))
    }
}
