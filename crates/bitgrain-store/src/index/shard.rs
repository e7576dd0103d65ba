//! A shard of the index: a hash table of slot numbers into a slab of entries.

use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Entry;

/// A shard of the index.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    table: HashTable<u32>,
    slab: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Slots with unwritten usage. May contain slots that were emptied since.
    dirty: Mutex<Vec<u32>>,
}

impl Shard {
    /// Returns the entry of `key` and its slot.
    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<(u32, &Entry)> {
        let slot = *self.table.find(hash, |&slot| self.at(slot).is_some_and(|entry| *entry.key == *key))?;
        self.at(slot).map(|entry| (slot, entry))
    }

    /// Returns the entry of `key` for modification.
    pub(crate) fn find_mut(&mut self, hash: u64, key: &[u8]) -> Option<&mut Entry> {
        let (slot, _) = self.find(hash, key)?;
        self.slab.get_mut(slot as usize)?.as_mut()
    }

    /// Inserts an entry whose key does not exist. Its usage is dirty.
    #[expect(clippy::cast_possible_truncation, reason = "a shard of four billion entries has no place in memory")]
    pub(crate) fn insert(&mut self, hash: u64, entry: Entry, hasher: &DefaultHashBuilder) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slab[slot as usize] = Some(entry);
                slot
            }
            None => {
                self.slab.push(Some(entry));
                (self.slab.len() - 1) as u32
            }
        };
        let Self { table, slab, .. } = self;
        table.insert_unique(hash, slot, |&slot| {
            slab[slot as usize].as_ref().map_or(0, |entry| hasher.hash_one(&*entry.key))
        });
    }

    /// Removes the entry of `key`.
    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let Self { table, slab, free, .. } = self;
        let is = |&slot: &u32| slab[slot as usize].as_ref().is_some_and(|entry: &Entry| *entry.key == *key);
        let (slot, _) = table.find_entry(hash, is).ok()?.remove();
        free.push(slot);
        slab[slot as usize].take()
    }

    /// Reserves space for `more` entries.
    pub(crate) fn reserve(&mut self, more: usize, hasher: &DefaultHashBuilder) {
        let Self { table, slab, .. } = self;
        slab.reserve(more);
        table.reserve(more, |&slot| slab[slot as usize].as_ref().map_or(0, |entry| hasher.hash_one(&*entry.key)));
    }

    /// Marks the usage of an entry as dirty.
    pub(crate) fn mark_dirty(&self, slot: u32, entry: &Entry) {
        if entry.mark_dirty() {
            self.dirty.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
        }
    }

    /// Calls `take` with all dirty entries and marks them as clean.
    pub(crate) fn take_dirty(&self, mut take: impl FnMut(&Entry)) {
        let slots = std::mem::take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner));
        for entry in slots.into_iter().filter_map(|slot| self.at(slot)) {
            entry.mark_clean();
            take(entry);
        }
    }

    /// Iterates over all entries, in no particular order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.slab.iter().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    fn at(&self, slot: u32) -> Option<&Entry> {
        self.slab.get(slot as usize)?.as_ref()
    }
}
