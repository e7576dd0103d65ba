//! Where every tensor is: a table in memory, in shards that are locked one by one.
//!
//! Readers take a read lock of one shard for as long as it takes to find an entry. A batch holds all of its shards at once,
//! so nobody sees a part of it.

mod change;
mod entry;
mod shard;

use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hashbrown::DefaultHashBuilder;

pub(crate) use change::Change;
pub(crate) use entry::{Entry, Traits};
pub(crate) use shard::Shard;

use crate::segment::Place;

/// Shards: enough that readers and writers of a few dozen threads rarely meet.
pub(crate) const SHARDS: usize = 64;

/// The table of all tensors.
pub(crate) struct Index {
    shards: Vec<RwLock<Shard>>,
    hasher: DefaultHashBuilder,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), hasher: DefaultHashBuilder::default() }
    }

    /// Hash of a key: says the shard, the place in it and the lock of its writers.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The shard that a hash belongs to.
    pub(crate) const fn shard_of(hash: u64) -> usize {
        // The table inside uses the highest and the lowest bits.
        (hash >> 32) as usize % SHARDS
    }

    /// A shard for reading. Whoever panicked while holding it left it whole: changes are made of single assignments.
    pub(crate) fn read(&self, shard: usize) -> RwLockReadGuard<'_, Shard> {
        self.shards[shard].read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self, shard: usize) -> RwLockWriteGuard<'_, Shard> {
        self.shards[shard].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `look` says of the entry with `key`, under the lock of its shard.
    pub(crate) fn with<T>(&self, key: &[u8], look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let hash = self.hash(key);
        self.read(Self::shard_of(hash)).find(hash, key).map(|(_, entry)| look(entry))
    }

    /// Counts an access at `now` while looking.
    pub(crate) fn touch<T>(&self, key: &[u8], count: impl FnOnce(&Entry), look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let hash = self.hash(key);
        let shard = self.read(Self::shard_of(hash));
        let (slot, entry) = shard.find(hash, key)?;
        count(entry);
        shard.soil(slot, entry);
        Some(look(entry))
    }

    /// Carries out all changes at once: nobody sees some of them without the others. Returns how many frames among them
    /// did not go with what is there.
    pub(crate) fn apply(&self, changes: Vec<Change>) -> usize {
        let hashed = |change: Change| (self.hash(change.key()), change);
        let changes: Vec<(u64, Change)> = changes.into_iter().map(hashed).collect();
        let mut wanted = [false; SHARDS];
        changes.iter().for_each(|(hash, _)| wanted[Self::shard_of(*hash)] = true);
        // Locked in one order by everybody, so no two wait for each other.
        let mut guards = wanted.iter().enumerate().map(|(shard, wanted)| wanted.then(|| self.write(shard)));
        let mut guards: [Option<RwLockWriteGuard<'_, Shard>>; SHARDS] =
            std::array::from_fn(|_| guards.next().flatten());
        let applied = changes.into_iter().map(|(hash, change)| {
            let shard = guards[Self::shard_of(hash)].as_deref_mut();
            shard.is_some_and(|shard| change.apply(hash, shard, &self.hasher))
        });
        applied.filter(|applied| !applied).count()
    }

    /// Fills a shard with the changes of a store that is being opened, in their order.
    pub(crate) fn load(&self, shard: usize, changes: impl IntoIterator<Item = (u64, Change)>) -> usize {
        let shard = &mut *self.write(shard);
        let applied = changes.into_iter().map(|(hash, change)| change.apply(hash, shard, &self.hasher));
        let lost = applied.filter(|applied| !applied).count();
        // Frames without a tensor: its record is damaged.
        let headless: Vec<Box<[u8]>> = shard.entries().filter(|e| e.headless).map(|e| e.key.clone()).collect();
        for key in headless {
            let delete = Change::Delete { key };
            let hash = self.hash(delete.key());
            delete.apply(hash, shard, &self.hasher);
        }
        lost
    }

    /// Notes that a record is elsewhere now, if it still counts.
    pub(crate) fn relocate(&self, key: &[u8], frame: Option<u64>, from: &Place, to: Place) {
        let hash = self.hash(key);
        let mut shard = self.write(Self::shard_of(hash));
        let Some(entry) = shard.find_mut(hash, key) else { return };
        let place = match frame {
            None => Some(&mut entry.place),
            Some(i) => entry.frames.as_mut().and_then(|frames| {
                let at = usize::try_from(i).ok().filter(|at| frames.get(*at).is_some_and(|place| place.is(from)))?;
                Arc::make_mut(frames).get_mut(at)
            }),
        };
        if let Some(place) = place.filter(|place| place.is(from)) {
            from.count_out();
            to.count_in();
            *place = to;
        }
    }

    /// All shards at once, for a look at one moment.
    pub(crate) fn freeze(&self) -> Vec<RwLockReadGuard<'_, Shard>> {
        (0..SHARDS).map(|shard| self.read(shard)).collect()
    }

    /// Calls `look` with every entry, a shard at a time.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&Entry)) {
        (0..SHARDS).for_each(|shard| self.read(shard).entries().for_each(&mut look));
    }

    /// Number of tensors.
    pub(crate) fn len(&self) -> usize {
        (0..SHARDS).map(|shard| self.read(shard).len()).sum()
    }

    /// Makes room for `more` entries in a shard.
    pub(crate) fn reserve(&self, shard: usize, more: usize) {
        self.write(shard).reserve(more, &self.hasher);
    }
}
