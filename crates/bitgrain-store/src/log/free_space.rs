//! Disk space management: a reserve ensures that a store on a full disk can still shrink.
//!
//! Two mechanisms. Appends fail while the file system has fewer free bytes than compaction of the largest segment
//! needs, if the system reports free space. And the file `RESERVE` occupies some space, in case other programs fill the
//! disk: deletion, compaction and closing may delete it. It is recreated when there is space again.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::StoreError;
use crate::storage::{Storage, StorageFile};

/// Name of the reserve file.
pub(crate) const RESERVE: &str = "RESERVE";

/// Size of the reserve in bytes: 1/64 of the store within these bounds. The minimum suffices for a hundred deletions
/// and a manifest.
const RESERVE_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=4 << 20;

/// Bytes that compaction writes in addition to records and index: headers and a manifest.
const MARGIN: u64 = 8 << 10;

/// Maximum number of bytes appended before free space is queried again.
const ASK: u64 = 16 << 20;

/// Free space of the disk, as last queried by the store.
pub(super) struct FreeSpace {
    storage: Arc<dyn Storage>,
    /// Bytes that may be appended before free space is queried again.
    budget: AtomicU64,
    reserve: Mutex<Reserve>,
}

#[derive(Default)]
struct Reserve {
    file: Option<Arc<dyn StorageFile>>,
    bytes: u64,
}

impl FreeSpace {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage, budget: AtomicU64::new(0), reserve: Mutex::default() }
    }

    /// Checks that `size` more bytes leave enough space to compact the largest segment, of `largest` bytes. Returns
    /// whether the system was queried.
    ///
    /// # Errors
    /// Returns [`StoreError::LittleSpace`] if they do not.
    pub(super) fn check(&self, size: u64, largest: impl FnOnce() -> u64) -> Result<bool, StoreError> {
        if let Some(left) = self.budget.load(Relaxed).checked_sub(size) {
            self.budget.store(left, Relaxed); // no race: callers hold the lock of the log
            return Ok(false);
        }
        let Some(available) = self.storage.available() else { return Ok(false) };
        let records = largest();
        // An index takes less than a sixteenth of the records, except for very small records.
        let kept = records.saturating_add(records / 16).saturating_add(MARGIN);
        match available.checked_sub(kept).and_then(|free| free.checked_sub(size)) {
            // Only a quarter, because other programs also write to the disk.
            Some(free) => {
                self.budget.store((free / 4).min(ASK), Relaxed);
                Ok(true)
            }
            None => Err(StoreError::LittleSpace { needed: size, available, kept }),
        }
    }

    /// Checks that `size` more bytes leave enough space to seal a segment of `written` bytes. For records that shrink
    /// the store at the next compaction.
    ///
    /// # Errors
    /// Returns [`StoreError::LittleSpace`] if they do not.
    pub(super) fn check_tight(&self, size: u64, written: u64) -> Result<(), StoreError> {
        self.budget.store(0, Relaxed); // forces a query before the store grows again
        let Some(available) = self.storage.available() else { return Ok(()) };
        let kept = (written / 16).saturating_add(MARGIN);
        if available >= size.saturating_add(kept) {
            return Ok(());
        }
        Err(StoreError::LittleSpace { needed: size, available, kept })
    }

    /// Creates or extends the reserve for a store of `stored` bytes, if there is space. Failure is not an error.
    pub(super) fn reserve(&self, stored: u64) {
        if !self.storage.keeps_reserve() {
            return;
        }
        let wanted = (stored / 64).clamp(*RESERVE_BYTES.start(), *RESERVE_BYTES.end());
        let mut reserve = self.reserve.lock().unwrap_or_else(PoisonError::into_inner);
        if reserve.file.is_none() {
            let opened = self.storage.open(RESERVE).or_else(|_| self.storage.create_new(RESERVE));
            reserve.bytes = opened.as_ref().ok().and_then(|file| file.len().ok()).unwrap_or(0);
            reserve.file = opened.ok();
        }
        let (Some(file), bytes) = (&reserve.file, reserve.bytes) else { return };
        let missing = wanted.saturating_sub(bytes);
        // The target grows with every tensor; small differences are not worth a write.
        if missing == 0 || missing < wanted / 4 {
            return;
        }
        if self.storage.available().is_some_and(|available| available / 4 < missing) {
            return;
        }
        // No fsync: if a power failure loses the file, it is recreated.
        let Ok(missing) = usize::try_from(missing) else { return };
        match file.write_at(bytes, &filling(missing)) {
            Ok(()) => reserve.bytes = wanted,
            Err(_) => drop(file.set_len(bytes)), // return the space already taken
        }
    }

    /// Deletes the reserve; returns `false` if it did not exist.
    pub(super) fn release(&self) -> bool {
        let mut reserve = self.reserve.lock().unwrap_or_else(PoisonError::into_inner);
        let freed = reserve.bytes > 0 && reserve.file.as_ref().is_some_and(|file| file.set_len(0).is_ok());
        if freed {
            reserve.bytes = 0;
        }
        freed
    }
}

/// Returns incompressible bytes: a compressing file system would store zeros in no space.
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
