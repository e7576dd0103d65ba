//! Cache of object ranges, bounded by their total size.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::ObjectError;
use super::patient::Patient;

/// Size of a cached block in bytes. A small tensor is read with one request.
const BLOCK: u64 = 128 << 10;

/// Ranges of at least this size are not cached: they would evict many others, and one request reads them.
const LARGE: u64 = 4 << 20;

/// Recently read blocks of objects.
pub(super) struct Cache {
    limit: u64,
    state: Mutex<State>,
}

/// Key of an object, and number of a block in it.
type Place = (Arc<str>, u64);

#[derive(Default)]
struct State {
    /// Blocks, with the time of their last use.
    blocks: HashMap<Place, (Arc<[u8]>, u64)>,
    /// Blocks by time of use, the oldest first.
    order: BTreeMap<u64, Place>,
    bytes: u64,
    time: u64,
}

impl Cache {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Fills `buffer` with the bytes from `offset` of an object of `len` bytes. No lock is held during a request.
    pub(super) fn read(
        &self,
        objects: &Patient,
        key: &Arc<str>,
        len: u64,
        offset: u64,
        buffer: &mut [u8],
    ) -> Result<(), ObjectError> {
        let range = offset..offset + buffer.len() as u64;
        if buffer.is_empty() {
            return Ok(());
        }
        if range.end - range.start >= LARGE.min(self.limit) {
            buffer.copy_from_slice(&objects.get(key, Some(range))?);
            return Ok(());
        }
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK);
        let mut missing: Option<Range<u64>> = None;
        for block in blocks.clone() {
            match self.find(key, block) {
                Some(bytes) => copy(&bytes, block * BLOCK, &range, buffer),
                None => missing = Some(missing.map_or(block..block + 1, |range| range.start..block + 1)),
            }
        }
        // One request from the first missing block to the last.
        let Some(missing) = missing else { return Ok(()) };
        let start = missing.start * BLOCK;
        let found = objects.get(key, Some(start..(missing.end * BLOCK).min(len)))?;
        copy(&found, start, &range, buffer);
        for (block, bytes) in missing.zip(found.chunks(usize::try_from(BLOCK).unwrap_or(usize::MAX))) {
            self.insert(key, block, bytes);
        }
        Ok(())
    }

    fn find(&self, key: &Arc<str>, block: u64) -> Option<Arc<[u8]>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.time += 1;
        let State { blocks, order, time, .. } = &mut *state;
        let (bytes, used) = blocks.get_mut(&(Arc::clone(key), block))?;
        if let Some(at) = order.remove(used) {
            order.insert(*time, at);
        }
        *used = *time;
        Some(Arc::clone(bytes))
    }

    fn insert(&self, key: &Arc<str>, block: u64, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (Arc::clone(key), block);
        if bytes.len() as u64 > self.limit || state.blocks.contains_key(&at) {
            return;
        }
        state.time += 1;
        let time = state.time;
        state.bytes += bytes.len() as u64;
        state.order.insert(time, at.clone());
        state.blocks.insert(at, (bytes.into(), time));
        while state.bytes > self.limit {
            let Some((_, oldest)) = state.order.pop_first() else { break };
            if let Some((bytes, _)) = state.blocks.remove(&oldest) {
                state.bytes -= bytes.len() as u64;
            }
        }
    }
}

/// Copies the part of `bytes`, which start at `start` in the object, that belongs to `range`.
fn copy(bytes: &[u8], start: u64, range: &Range<u64>, buffer: &mut [u8]) {
    let (from, to) = (start.max(range.start), (start + bytes.len() as u64).min(range.end));
    let at = |offset: u64, base: u64| usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX);
    if from < to {
        buffer[at(from, range.start)..at(to, range.start)].copy_from_slice(&bytes[at(from, start)..at(to, start)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::object::{MemoryObjects, Objects, RemoteConfig};

    #[test]
    fn reads_are_right_and_the_cache_stays_within_its_limit() {
        let objects = MemoryObjects::default();
        let bytes: Vec<u8> =
            (0..1_000_000_u32).map(|i| u8::try_from(i.wrapping_mul(7919) >> 8 & 255).expect("a byte")).collect();
        objects.put("a", &bytes).expect("memory");
        let patient = Patient::new(Arc::new(objects.clone()), &RemoteConfig::default());
        let (cache, key) = (Cache::new(3 * BLOCK), Arc::<str>::from("a"));
        let mut state = 1_u64;
        for _ in 0..500 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let start = usize::try_from(state >> 40).expect("small") % bytes.len();
            let len = usize::try_from(state >> 20 & 0x3_ffff).expect("small").min(bytes.len() - start);
            let mut buffer = vec![0; len];
            cache.read(&patient, &key, bytes.len() as u64, start as u64, &mut buffer).expect("there");
            assert!(buffer == bytes[start..start + len], "{len} bytes from {start}");
            let state = cache.state.lock().expect("not poisoned");
            let held: usize = state.blocks.values().map(|(bytes, _)| bytes.len()).sum();
            assert_eq!((state.bytes, state.order.len()), (held as u64, state.blocks.len()));
            assert!(state.bytes <= 3 * BLOCK);
        }
        objects.delete(&["a".to_owned()]).expect("memory");
        let mut buffer = [0; 8];
        let last = cache.state.lock().expect("not poisoned").order.last_key_value().expect("a block").1.1;
        cache.read(&patient, &key, 1_000_000, last * BLOCK, &mut buffer).expect("a cached block needs no request");
    }
}
