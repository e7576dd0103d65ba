//! Room on the disk: some is kept, so that a store that filled its disk can still shrink.
//!
//! Two things are kept. Appending stops while the file system has fewer bytes left than it takes to compact the largest
//! segment, if the system says how many are left. And the file `RESERVE` takes up a little space, for disks that other programs
//! fill: deleting, compacting and closing may give it up. It is made again when there is room.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::StoreError;
use crate::storage::{Storage, StorageFile};

/// Name of the file that takes up space.
pub(crate) const RESERVE: &str = "RESERVE";

/// Bytes of it: a sixty-fourth of the store within these bounds. The least is enough for a hundred deletions and a manifest.
const RESERVE_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=4 << 20;

/// Bytes that a compaction writes beside the records, apart from the index: headers, a manifest.
const MARGIN: u64 = 8 << 10;

/// Bytes after which the system is asked again at the latest.
const ASK: u64 = 16 << 20;

/// Room on the disk of a store.
pub(super) struct Room {
    storage: Arc<dyn Storage>,
    /// Bytes that may be appended before the system is asked again.
    budget: AtomicU64,
    reserve: Mutex<Reserve>,
}

#[derive(Default)]
struct Reserve {
    file: Option<Arc<dyn StorageFile>>,
    bytes: u64,
}

impl Room {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage, budget: AtomicU64::new(0), reserve: Mutex::default() }
    }

    /// Checks that `size` more bytes leave room for a compaction, which takes as many as `largest` says. True if the system was
    /// asked.
    ///
    /// # Errors
    /// [`StoreError::LittleSpace`].
    pub(super) fn check(&self, size: u64, largest: impl FnOnce() -> u64) -> Result<bool, StoreError> {
        if let Some(left) = self.budget.load(Relaxed).checked_sub(size) {
            self.budget.store(left, Relaxed); // called under the lock of the log
            return Ok(false);
        }
        let Some(available) = self.storage.available() else { return Ok(false) };
        let records = largest();
        // An index takes less than a sixteenth of all but the smallest records.
        let kept = records.saturating_add(records / 16).saturating_add(MARGIN);
        match available.checked_sub(kept).and_then(|free| free.checked_sub(size)) {
            // A quarter: others write to the disk as well.
            Some(free) => {
                self.budget.store((free / 4).min(ASK), Relaxed);
                Ok(true)
            }
            None => Err(StoreError::LittleSpace { needed: size, available, kept }),
        }
    }

    /// Checks that `size` more bytes leave room to seal a segment of `written` bytes: for records that shrink the store once it
    /// is compacted.
    ///
    /// # Errors
    /// [`StoreError::LittleSpace`].
    pub(super) fn check_tight(&self, size: u64, written: u64) -> Result<(), StoreError> {
        self.budget.store(0, Relaxed); // the system is asked again before the store grows
        let Some(available) = self.storage.available() else { return Ok(()) };
        let kept = (written / 16).saturating_add(MARGIN);
        if available >= size.saturating_add(kept) {
            return Ok(());
        }
        Err(StoreError::LittleSpace { needed: size, available, kept })
    }

    /// Takes up space for a store of so many bytes, if there is some. Without it the store works as well.
    pub(super) fn reserve(&self, stored: u64) {
        let wanted = (stored / 64).clamp(*RESERVE_BYTES.start(), *RESERVE_BYTES.end());
        let mut reserve = self.reserve.lock().unwrap_or_else(PoisonError::into_inner);
        if reserve.file.is_none() {
            let opened = self.storage.open(RESERVE).or_else(|_| self.storage.create_new(RESERVE));
            reserve.bytes = opened.as_ref().ok().and_then(|file| file.len().ok()).unwrap_or(0);
            reserve.file = opened.ok();
        }
        let (Some(file), bytes) = (&reserve.file, reserve.bytes) else { return };
        let missing = wanted.saturating_sub(bytes);
        // Not for a few bytes more: a store grows with every tensor.
        if missing == 0 || missing < wanted / 4 {
            return;
        }
        if self.storage.available().is_some_and(|available| available / 4 < missing) {
            return;
        }
        // Not synced: after a loss of power it is made again.
        let Ok(missing) = usize::try_from(missing) else { return };
        match file.write_at(bytes, &filling(missing)) {
            Ok(()) => reserve.bytes = wanted,
            Err(_) => drop(file.set_len(bytes)), // gives back what it took
        }
    }

    /// Gives up the space; false if none was taken up.
    pub(super) fn release(&self) -> bool {
        let mut reserve = self.reserve.lock().unwrap_or_else(PoisonError::into_inner);
        let freed = reserve.bytes > 0 && reserve.file.as_ref().is_some_and(|file| file.set_len(0).is_ok());
        if freed {
            reserve.bytes = 0;
        }
        freed
    }
}

/// Bytes that take up space: file systems that compress would store zeros in none.
fn filling(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = (0..len.div_ceil(8)).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let mut bytes: Vec<u8> = words.collect();
    bytes.truncate(len);
    bytes
}
