//! Atomic batches: readers and crash recovery see all changes of a batch or none.

use std::collections::{HashMap, HashSet};

use super::append::Appending;
use super::lookup::Found;
use super::put::{Put, check_frames, max_error, pin};
use super::remove::delete_record;
use super::{Core, PutOptions, TensorStore};
use crate::id::Key;
use crate::log::Record;
use crate::{Provenance, StoreError, TensorId};

/// A batch of changes that are applied atomically; created by [`TensorStore::batch`].
///
/// Values are encoded when they are put into the batch, so a batch takes as much memory as the data will take on disk.
/// For each id, the last `put` or `delete` wins.
pub struct WriteBatch<'s> {
    store: &'s TensorStore,
    changes: Vec<Change>,
    /// Tensors changed by the batch.
    changed: HashSet<TensorId>,
}

/// The changes of a batch without a borrow of its store, for callers that cannot hold one.
///
/// ```
/// use bitgrain_store::{Changes, StoreConfig, TensorStore};
/// # let folder = tempfile::tempdir()?;
/// let store = TensorStore::open(folder.path(), StoreConfig::default())?;
/// let mut batch = store.batch();
/// batch.put("a", &[1], &[1.0])?;
/// let changes: Changes = batch.into_changes(); // borrows nothing
/// store.batch_of(changes).commit()?;
/// assert!(store.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Changes {
    changes: Vec<Change>,
    changed: HashSet<TensorId>,
}

/// One change.
enum Change {
    Put(Box<Prepared>),
    Append { id: TensorId, shape: Vec<usize>, frame: Vec<f32>, time: u64 },
    Delete(TensorId),
}

/// An encoded tensor.
struct Prepared {
    id: TensorId,
    shape: Vec<usize>,
    options: PutOptions,
    coded: super::tier_encoder::Coded,
}

impl Change {
    fn id(&self) -> &TensorId {
        match self {
            Self::Put(put) => &put.id,
            Self::Append { id, .. } | Self::Delete(id) => id,
        }
    }
}

impl TensorStore {
    /// Starts a batch. Nothing is written before [`WriteBatch::commit`].
    ///
    /// ```
    /// use bitgrain_store::{StoreConfig, TensorStore};
    /// # let folder = tempfile::tempdir()?;
    /// let store = TensorStore::open(folder.path(), StoreConfig::default())?;
    /// store.put("old", &[1], &[1.0])?;
    /// let mut batch = store.batch();
    /// batch.put("new", &[2], &[1.0, 2.0])?;
    /// batch.delete("old");
    /// assert!(store.contains("old") && !store.contains("new"));
    /// batch.commit()?;
    /// assert!(store.contains("new") && !store.contains("old"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn batch(&self) -> WriteBatch<'_> {
        self.batch_of(Changes::default())
    }

    /// Continues a batch that was started on this store.
    #[must_use]
    pub fn batch_of(&self, changes: Changes) -> WriteBatch<'_> {
        let Changes { changes, changed } = changes;
        WriteBatch { store: self, changes, changed }
    }
}

impl WriteBatch<'_> {
    /// Puts a tensor.
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::put`]; the batch is unchanged then.
    pub fn put(&mut self, id: impl Into<TensorId>, shape: &[usize], values: &[f32]) -> Result<Provenance, StoreError> {
        self.put_with(id, shape, values, &PutOptions::default())
    }

    /// Puts a tensor with options.
    ///
    /// # Errors
    /// Returns the errors of [`TensorStore::put_with`]; the batch is unchanged then.
    pub fn put_with(
        &mut self,
        id: impl Into<TensorId>,
        shape: &[usize],
        values: &[f32],
        options: &PutOptions,
    ) -> Result<Provenance, StoreError> {
        let id = id.into();
        let core = &self.store.core;
        let mut put = Put::new(core, &id, shape, values, options)?;
        put.encode(core, core.find(&put.key).as_ref())?;
        let Some(coded) = put.take_coded() else { return Err(StoreError::NotFound { id: id.clone() }) };
        let cost = super::tier_encoder::provenance(coded.tier, coded.encoding, coded.accuracy);
        self.forget(&id);
        let (shape, options) = (shape.to_vec(), options.clone());
        self.changes.push(Change::Put(Box::new(Prepared { id, shape, options, coded })));
        Ok(cost)
    }

    /// Appends a frame to a temporal tensor.
    pub fn append(&mut self, id: impl Into<TensorId>, shape: &[usize], frame: &[f32], time: u64) {
        let id = id.into();
        self.changed.insert(id.clone());
        let change = Change::Append { id, shape: shape.to_vec(), frame: frame.to_vec(), time };
        self.changes.push(change);
    }

    /// Deletes a tensor.
    pub fn delete(&mut self, id: impl Into<TensorId>) {
        let id = id.into();
        self.forget(&id);
        self.changes.push(Change::Delete(id));
    }

    /// Detaches the changes from the store. [`TensorStore::batch_of`] continues the batch.
    #[must_use]
    pub fn into_changes(self) -> Changes {
        Changes { changes: self.changes, changed: self.changed }
    }

    /// Returns the number of changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns whether the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Applies all changes, or none.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`] if a tensor to delete does not exist; [`StoreError::HasDependents`];
    /// [`StoreError::BoundExceeded`] or [`StoreError::BelowPin`] if a limit or a pin was set in the meantime; the
    /// errors of [`TensorStore::append`]; [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`]
    /// or [`StoreError::Io`]. The store is unchanged then.
    pub fn commit(self) -> Result<(), StoreError> {
        let core = &self.store.core;
        core.log()?.check()?;
        let keys: Vec<Key> = self.changes.iter().map(|change| change.id().key()).collect();
        let _held = core.lock_tensors(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
        let before: Vec<bool> = keys.iter().map(|key| core.find(key).is_some()).collect();
        let now = core.now();
        let ids: Vec<TensorId> = self.changes.iter().map(|change| change.id().clone()).collect();
        let mut made = Vec::new();
        for change in self.changes {
            made.push(Made::of(core, change)?);
        }
        // A put or delete always precedes the frames of its id, because a later one discards earlier changes of the id.
        let replaced: HashMap<&TensorId, bool> =
            made.iter().zip(&ids).filter_map(|(made, id)| made.deletes().map(|deletes| (id, deletes))).collect();
        let mut appending: Vec<(TensorId, Appending<'_>)> = Vec::new();
        let mut records: Vec<Record<'_>> = Vec::new();
        for (made, id) in made.iter_mut().zip(&ids) {
            match made {
                Made::Put(put) => records.extend(put.record(now)),
                Made::Delete => records.push(delete_record(id, now)),
                Made::Append { shape, frame, time } => {
                    let at = appending.iter().position(|(other, _)| other == id);
                    let at = match at {
                        Some(at) => at,
                        None => {
                            let begun = match replaced.get(id) {
                                None => Appending::new(core, id, shape)?,
                                Some(true) => Appending::start(core, id, shape)?,
                                Some(false) => return Err(StoreError::NotTemporal { id: id.clone() }),
                            };
                            appending.push((id.clone(), begun));
                            appending.len() - 1
                        }
                    };
                    let appending = &mut appending[at].1;
                    let encoded = appending.encode(core, frame, *time)?;
                    records.extend(appending.records(&[encoded], now));
                    appending.begun();
                }
            }
        }
        core.commit(&mut records, now)?;
        drop(records);
        for (id, appending) in appending {
            core.keep_encoder(&id.key(), appending.encoder);
        }
        keys.iter().zip(before).for_each(|(key, before)| core.touch_written(key, before, now));
        Ok(())
    }

    /// Discards earlier changes of a tensor.
    fn forget(&mut self, id: &TensorId) {
        if !self.changed.insert(id.clone()) {
            self.changes.retain(|change| change.id() != id);
        }
    }
}

/// A change, prepared under the locks of its tensors.
enum Made {
    Put(Box<Ready>),
    Append { shape: Vec<usize>, frame: Vec<f32>, time: u64 },
    Delete,
}

/// A tensor with the metadata kept from the one it replaces.
struct Ready {
    prepared: Prepared,
    seen: Option<Found>,
    kept: super::put::Kept,
}

impl Made {
    /// Returns `true` for a deletion, `false` for a put, `None` for a frame.
    fn deletes(&self) -> Option<bool> {
        match self {
            Self::Put(_) => Some(false),
            Self::Delete => Some(true),
            Self::Append { .. } => None,
        }
    }

    fn of(core: &Core, change: Change) -> Result<Self, StoreError> {
        Ok(match change {
            Change::Put(prepared) => {
                core.links().check_free(&prepared.id)?;
                let seen = core.find(&prepared.id.key());
                check_frames(&prepared.options, &prepared.id, seen.as_ref())?;
                let kept = match &seen {
                    Some(found) => super::put::Kept::read_if_whole(found, &prepared.id)?,
                    None => super::put::Kept::default(),
                };
                // The tensor was encoded without its lock, so the limit may have been set later.
                let (tier, got) = (prepared.coded.tier, prepared.coded.accuracy.bound());
                if let Some(wanted) = max_error(&prepared.options, seen.as_ref()).filter(|wanted| got > *wanted) {
                    return Err(StoreError::BoundExceeded { tier, wanted, got });
                }
                let floor = pin(&prepared.options, seen.as_ref()).filter(|pin| tier > *pin);
                if let Some(pin) = floor {
                    return Err(StoreError::BelowPin { id: prepared.id, tier, pin });
                }
                Self::Put(Box::new(Ready { prepared: *prepared, seen, kept }))
            }
            Change::Append { shape, frame, time, id } => {
                id.check()?;
                super::limits::check_shape(&shape, frame.len())?;
                Self::Append { shape, frame, time }
            }
            Change::Delete(id) => {
                core.found(&id, &id.key())?;
                core.links().check_free(&id)?;
                Self::Delete
            }
        })
    }
}

impl Ready {
    fn record(&mut self, now: u64) -> Option<Record<'_>> {
        let Self { prepared: Prepared { id, shape, options, coded }, seen, kept } = self;
        let draft = std::mem::replace(&mut coded.draft, bitgrain_formats::segment::Draft::new(0));
        let head = super::put::head_of(coded, shape, options, seen.as_ref(), kept, now);
        let content = bitgrain_formats::segment::Content::Tensor(id.as_id(), head);
        Some(Record { draft, content, time: now })
    }
}
