//! The index: an in-memory table of all tensors, in shards with a lock each.
//!
//! Readers hold the read lock of one shard while they look up an entry. A batch holds all of its shards at once,
//! so readers never see part of it.

mod change;
mod entry;
mod frame_uses;
mod shard;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hashbrown::DefaultHashBuilder;

pub(crate) use change::{Change, Stray};
pub(crate) use entry::{Entry, Traits};
pub(crate) use frame_uses::{FrameUses, Groups};
pub(crate) use shard::Shard;

use crate::id::Key;
use crate::policy::{CapState, Usage};
use crate::segment::Place;

/// Number of shards: enough that a few dozen threads rarely contend.
pub(crate) const SHARDS: usize = 64;

/// Table of all tensors.
pub(crate) struct Index {
    shards: Vec<RwLock<Shard>>,
    hasher: DefaultHashBuilder,
    /// Policy state that is not per tensor. Written together with usage.
    cap: Mutex<CapState>,
    /// Reads of frames. Written together with the usage of their tensor.
    pub(crate) frame_uses: FrameUses,
}

impl Index {
    pub(crate) fn new() -> Self {
        let shards = (0..SHARDS).map(|_| RwLock::default()).collect();
        Self { shards, hasher: DefaultHashBuilder::default(), cap: Mutex::default(), frame_uses: FrameUses::default() }
    }

    /// Returns the state of the policy's cap.
    pub(crate) fn cap(&self) -> CapState {
        *self.cap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_cap(&self, cap: CapState) {
        *self.cap.lock().unwrap_or_else(PoisonError::into_inner) = cap;
    }

    /// Returns the hash of a key, which selects the shard, the slot and the writer lock.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Returns the shard of a hash.
    pub(crate) const fn shard_of(hash: u64) -> usize {
        // The hash table inside a shard uses the highest and the lowest bits.
        (hash >> 32) as usize % SHARDS
    }

    /// Takes the read lock of a shard. Poisoning is ignored: changes are single assignments, so a panic leaves it
    /// consistent.
    pub(crate) fn read(&self, shard: usize) -> RwLockReadGuard<'_, Shard> {
        self.shards[shard].read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self, shard: usize) -> RwLockWriteGuard<'_, Shard> {
        self.shards[shard].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `look` with the entry of `key` under the lock of its shard.
    pub(crate) fn with<T>(&self, key: &[u8], look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let hash = self.hash(key);
        self.read(Self::shard_of(hash)).find(hash, key).map(|(_, entry)| look(entry))
    }

    /// Like [`with`](Self::with), and counts an access with `count`.
    pub(crate) fn touch<T>(&self, key: &[u8], count: impl FnOnce(&Entry), look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let hash = self.hash(key);
        let shard = self.read(Self::shard_of(hash));
        let (slot, entry) = shard.find(hash, key)?;
        count(entry);
        shard.mark_dirty(slot, entry);
        Some(look(entry))
    }

    /// Applies all changes atomically with respect to readers. Returns the number of frames that did not fit the
    /// current state.
    pub(crate) fn apply(&self, changes: impl IntoIterator<Item = Change, IntoIter: ExactSizeIterator>) -> usize {
        let mut changes = changes.into_iter();
        if changes.len() <= 1 {
            let stray = changes.next().and_then(|change| {
                let hash = self.hash(change.key());
                change.apply(hash, &mut self.write(Self::shard_of(hash)), &self.hasher)
            });
            return usize::from(stray.is_some());
        }
        let hashed = |change: Change| (self.hash(change.key()), change);
        let changes: Vec<(u64, Change)> = changes.map(hashed).collect();
        let mut wanted = [false; SHARDS];
        changes.iter().for_each(|(hash, _)| wanted[Self::shard_of(*hash)] = true);
        // Locked in a fixed order, so that two threads cannot deadlock.
        let mut guards = wanted.iter().enumerate().map(|(shard, wanted)| wanted.then(|| self.write(shard)));
        let mut guards: [Option<RwLockWriteGuard<'_, Shard>>; SHARDS] =
            std::array::from_fn(|_| guards.next().flatten());
        let applied = changes.into_iter().map(|(hash, change)| {
            let shard = guards[Self::shard_of(hash)].as_deref_mut();
            shard.and_then(|shard| change.apply(hash, shard, &self.hasher))
        });
        applied.flatten().count()
    }

    /// Fills a shard with the changes of a store being opened, in order. A tensor that was put and never used again has
    /// no usage record: `use_of` derives its usage from the time of its record. Returns live frames that have no tensor
    /// or no predecessor, because a record they depend on is damaged.
    pub(crate) fn load(
        &self,
        shard: usize,
        changes: impl IntoIterator<Item = (u64, Change)>,
        use_of: impl Fn(u64) -> Usage,
    ) -> Vec<Stray> {
        let shard = &mut *self.write(shard);
        let mut strays: Vec<Stray> = Vec::new();
        let mut firsts: HashMap<Key, u64> = HashMap::new();
        for (hash, change) in changes {
            // Compaction may leave any frames of a tensor that was deleted or replaced later.
            if !strays.is_empty() && change.replaces_frames() {
                strays.retain(|stray| *stray.key != *change.key());
            }
            if let Change::Frame { key, rewritten: Some(first), .. } = &change {
                let known = firsts.entry(key.clone()).or_insert(*first);
                *known = (*known).max(*first);
            }
            strays.extend(change.apply_with(hash, shard, &self.hasher, |at| Some(use_of(at))));
        }
        let mut strays = self.settle(shard, strays, &firsts);
        let headless: Vec<Key> = shard.entries().filter(|e| e.headless).map(|e| e.key.clone()).collect();
        for key in headless {
            let hash = self.hash(&key);
            let frames = shard.find_mut(hash, &key).and_then(|entry| entry.frames.clone());
            let frames = frames.iter().flat_map(|frames| frames.iter()).zip(0..);
            let stray = |(place, index): (&Place, u64)| Stray {
                key: key.clone(),
                place: place.clone(),
                index,
                tier: crate::Tier::Hot,
            };
            strays.extend(frames.map(stray));
            Change::Delete { key }.apply(hash, shard, &self.hasher);
        }
        strays
    }

    /// Places frames that precede a re-encoded one in the order of records but follow it in the order of frames: compaction
    /// drops the record that was re-encoded, so frames after it come first. Returns the frames that remain without a
    /// predecessor.
    fn settle(&self, shard: &mut Shard, mut strays: Vec<Stray>, firsts: &HashMap<Key, u64>) -> Vec<Stray> {
        if firsts.is_empty() {
            return strays;
        }
        strays.sort_by(|a, b| (&a.key, a.index, a.place.sequence).cmp(&(&b.key, b.index, b.place.sequence)));
        let place = |stray: Stray| {
            // Frames before the first record of frame 0 belong to a deleted tensor with the same id.
            let fits = firsts.get(&stray.key).is_some_and(|first| stray.place.sequence >= *first);
            if !fits {
                return Some(stray);
            }
            let Stray { key, place, index, tier } = stray;
            let hash = self.hash(&key);
            let entry = shard.find_mut(hash, &key);
            let frames = entry.and_then(|entry| entry.frames.as_ref());
            let newer = frames.and_then(|frames| frames.get(usize::try_from(index).ok()?));
            if newer.is_some_and(|newer| newer.sequence > place.sequence) {
                return None; // replaced by a re-encoded frame
            }
            Change::Frame { key, place, index, tier, rewritten: Some(0) }.apply(hash, shard, &self.hasher)
        };
        strays.into_iter().filter_map(place).collect()
    }

    /// Updates the location of a record that compaction moved, if it is still live.
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

    /// Takes the read locks of all shards, for a consistent view.
    pub(crate) fn freeze(&self) -> Vec<RwLockReadGuard<'_, Shard>> {
        (0..SHARDS).map(|shard| self.read(shard)).collect()
    }

    /// Calls `look` with every entry, one shard at a time.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&Entry)) {
        (0..SHARDS).for_each(|shard| self.read(shard).entries().for_each(&mut look));
    }

    /// Returns the number of tensors.
    pub(crate) fn len(&self) -> usize {
        (0..SHARDS).map(|shard| self.read(shard).len()).sum()
    }

    /// Reserves space for `more` entries in a shard.
    pub(crate) fn reserve(&self, shard: usize, more: usize) {
        self.write(shard).reserve(more, &self.hasher);
    }
}

#[cfg(test)]
mod tests {
    use bitgrain_formats::segment::{SegmentHeader, SegmentKind};

    use super::*;
    use crate::Tier;
    use crate::segment::Segment;
    use crate::storage::{LocalFolder, Storage};

    fn segment() -> Arc<Segment> {
        let folder = tempfile::tempdir().expect("a folder");
        let local = LocalFolder::lock(folder.path(), true).expect("nobody else has it");
        let header = SegmentHeader {
            kind: SegmentKind::Log,
            store: [0; 16],
            number: 1,
            previous: 0,
            base_sequence: 1,
            base_time: 0,
        };
        Segment::new(header, local.create_new("x").expect("new"), 64)
    }

    fn place(segment: &Arc<Segment>, offset: u64) -> Place {
        Place { segment: Arc::clone(segment), offset, len: 10, sequence: offset }
    }

    fn tensor(segment: &Arc<Segment>, name: u32, offset: u64, temporal: bool) -> Change {
        let traits = Traits { tier: Tier::Hot, pinned: None, reconstructable: false, temporal, max_error: None };
        let key = Key::from(&name.to_le_bytes()[..]);
        Change::Tensor { key, place: place(segment, offset), changed_at: 0, traits, facts: None }
    }

    #[test]
    fn adding_changing_and_removing_entries_updates_the_byte_counts() {
        let (index, segment) = (Index::new(), segment());
        let live = || segment.live.load(std::sync::atomic::Ordering::Relaxed);
        index.apply((0..1000).map(|name| tensor(&segment, name, u64::from(name) * 10, false)));
        assert_eq!((index.len(), live()), (1000, 10_000));
        index.apply((0..500).map(|name| tensor(&segment, name, 20_000 + u64::from(name), false)));
        assert_eq!((index.len(), live()), (1000, 10_000), "replaced, not added");
        assert_eq!(index.with(&7_u32.to_le_bytes(), |entry| entry.place.offset), Some(20_007));
        index.apply((0..999).map(|name: u32| Change::Delete { key: Key::from(&name.to_le_bytes()[..]) }));
        assert_eq!((index.len(), live()), (1, 10));
        index.apply((0..999).map(|name| tensor(&segment, name, 1, false)));
        assert_eq!((index.len(), live()), (1000, 10_000));
        assert!(index.with(b"none", |_| ()).is_none());
    }

    #[test]
    fn frames_are_kept_until_their_tensor_record_is_read_and_dropped_without_one() {
        let (index, segment) = (Index::new(), segment());
        let frame = |name: u32, i| {
            let key = Key::from(&name.to_le_bytes()[..]);
            (
                index.hash(&key),
                Change::Frame { key, place: place(&segment, 100 + i), index: i, tier: Tier::Hot, rewritten: None },
            )
        };
        let of = |change: Change| (index.hash(change.key()), change);
        let shard = Index::shard_of(index.hash(&1_u32.to_le_bytes()));
        let late = of(tensor(&segment, 1, 500, true));
        assert!(index.load(shard, [frame(1, 0), frame(1, 1), late], |_| Usage::default()).is_empty());
        let frames = index.with(&1_u32.to_le_bytes(), |entry| entry.frames.as_ref().map(|frames| frames.len()));
        assert_eq!(frames, Some(Some(2)));
        assert_eq!(segment.live.load(std::sync::atomic::Ordering::Relaxed), 30);
        let shard = Index::shard_of(index.hash(&2_u32.to_le_bytes()));
        let unused = |_| Usage::default();
        let strays = index.load(shard, [frame(2, 0), frame(2, 5)], unused);
        let strays: Vec<u64> = strays.iter().map(|stray| stray.index).collect();
        assert_eq!(strays, [5, 0], "one has a gap before it, both lack their tensor");
        let gone = || of(Change::Delete { key: Key::from(&2_u32.to_le_bytes()[..]) });
        assert!(
            index.load(shard, [frame(2, 0), frame(2, 5), gone()], unused).is_empty(),
            "deleted later: nothing is lost"
        );
        assert_eq!((index.len(), segment.live.load(std::sync::atomic::Ordering::Relaxed)), (1, 30));
    }

    #[test]
    fn a_record_replaced_during_its_copy_is_not_moved() {
        let (index, segment) = (Index::new(), segment());
        let key = Key::from(&1_u32.to_le_bytes()[..]);
        let frame = |offset, i| Change::Frame {
            key: key.clone(),
            place: place(&segment, offset),
            index: i,
            tier: Tier::Hot,
            rewritten: None,
        };
        let live = || segment.live.load(std::sync::atomic::Ordering::Relaxed);
        let offsets = || index.with(&key, |e| e.places().map(|place| place.offset).collect::<Vec<_>>()).expect("there");
        index.apply(vec![tensor(&segment, 1, 20, true), frame(30, 0), frame(40, 1)]);
        for (i, (frame, from, to)) in [(None, 10, 500), (Some(0), 31, 501), (Some(2), 40, 502)].into_iter().enumerate()
        {
            index.relocate(&key, frame, &place(&segment, from), place(&segment, to));
            assert_eq!((offsets(), live()), (vec![20, 30, 40], 30), "{i}");
        }
        index.relocate(&key, None, &place(&segment, 20), place(&segment, 600));
        index.relocate(&key, Some(1), &place(&segment, 40), place(&segment, 601));
        assert_eq!((offsets(), live()), (vec![600, 30, 601], 30));
        index.relocate(b"gone", None, &place(&segment, 600), place(&segment, 700));
        assert_eq!(live(), 30);
    }

    #[test]
    fn usage_is_returned_once() {
        let (index, segment) = (Index::new(), segment());
        index.apply(vec![tensor(&segment, 1, 10, false), tensor(&segment, 2, 20, false)]);
        for _ in 0..3 {
            index.touch(&1_u32.to_le_bytes(), |_| {}, |_| ());
        }
        let dirty = || {
            let mut keys = Vec::new();
            (0..SHARDS).for_each(|shard| index.read(shard).take_dirty(|entry| keys.push(entry.key.clone())));
            keys
        };
        assert_eq!(dirty(), [Key::from(&1_u32.to_le_bytes()[..])]);
        assert!(dirty().is_empty());
    }
}
