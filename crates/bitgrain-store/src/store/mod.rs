//! The public API of the store, one file per operation.

mod append;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod backup;
mod batch;
mod commit;
mod compact;
mod copy;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod destination;
mod draft_pool;
mod edit;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod folder;
mod frame_encoders;
mod frame_head;
mod frame_runs;
mod frames;
mod future_dates;
mod get;
mod limits;
mod links;
mod lookup;
mod meta;
mod open;
mod put;
mod put_options;
mod reader;
mod reconstruction;
mod remove;
mod retier;
mod retier_frames;
mod search;
mod snapshot;
mod stats;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod sync;
mod tick;
mod tier_encoder;
mod tier_moves;
mod verify;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bitgrain_formats::segment::Manifest;

pub use self::append::FrameProvenance;
pub use self::batch::{Changes, WriteBatch};
pub use self::compact::{CompactOptions, CompactReport};
use self::frame_encoders::Encoders;
use self::frame_runs::FrameRuns;
pub use self::frames::Frame;
pub use self::get::StoredTensor;
use self::links::LinkTable;
pub use self::meta::Scan;
pub use self::put_options::PutOptions;
pub use self::remove::Dependents;
pub use self::search::{SearchHit, SearchOptions, SearchResult};
pub use self::snapshot::Snapshot;
pub use self::stats::{StoreStats, TierStats};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use self::sync::SyncReport;
pub use self::tick::{TickPlan, TickReport, TierMove};
pub use self::verify::VerifyReport;
use crate::index::Index;
use crate::log::{Log, Segments};
use crate::recovery::RecoveryReport;
use crate::search::Tables;
use crate::storage::Storage;
use crate::{StoreConfig, StoreError};

/// An open tensor store.
///
/// Can be shared between threads: readers do not block each other or writers, and concurrent writers share one fsync.
/// A change acknowledged with `Ok` survives a crash, within the limits of the [`SyncMode`](crate::SyncMode).
///
/// ```
/// use bitgrain_store::{StoreConfig, TensorStore};
/// # let folder = tempfile::tempdir()?;
/// let store = TensorStore::open(folder.path(), StoreConfig::default())?;
/// let values: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.1).sin()).collect();
/// let cost = store.put("waves", &[10, 100], &values)?;
/// let tensor = store.get("waves")?;
/// assert_eq!(tensor.shape, [10, 100]);
/// let worst = values.iter().zip(&tensor.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
/// assert!(worst <= cost.measured && cost.measured <= cost.bound && cost.bound < 0.004);
/// store.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TensorStore {
    core: Core,
}

/// State of an open store.
struct Core {
    storage: Arc<dyn Storage>,
    config: StoreConfig,
    index: Arc<Index>,
    segments: Arc<Segments>,
    /// `None` if the store is open read-only.
    log: Option<Log>,
    manifest: Arc<Mutex<Manifest>>,
    /// Writer locks, by hash of the key. Held from reading a tensor until the resulting change is in the index.
    stripes: Vec<Mutex<()>>,
    /// Reconstruction links between tensors.
    links: Mutex<LinkTable>,
    /// Held while links are added, so that two threads cannot close a cycle together.
    linking: Mutex<()>,
    encoders: Mutex<Encoders>,
    frame_runs: FrameRuns,
    /// Held during compaction, and by operations that need a fixed set of segments.
    compacting: Mutex<()>,
    /// Vectors of all segments, since the first search.
    vectors: Tables,
    report: RecoveryReport,
}

/// Number of writer locks: enough that two tensors rarely share one.
const STRIPES: usize = 1024;

impl TensorStore {
    /// Returns the report of opening the store.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.core.report
    }

    /// Returns the settings the store was opened with.
    #[must_use]
    pub fn config(&self) -> &StoreConfig {
        &self.core.config
    }

    /// Returns the number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.core.index.len()
    }

    /// Returns whether the store has no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes all writes so far durable, regardless of the [`SyncMode`](crate::SyncMode).
    ///
    /// # Errors
    /// Returns [`StoreError::ReadOnly`], [`StoreError::Poisoned`] or [`StoreError::Io`].
    pub fn flush(&self) -> Result<(), StoreError> {
        self.core.log()?.flush()
    }

    /// Writes the usage of tensors, seals the log, makes everything durable and records that the store was closed.
    /// Missing data at the next open is then reported as damage and never mistaken for the result of a crash. Dropping
    /// the store does the same but ignores errors.
    ///
    /// # Errors
    /// Returns [`StoreError::Poisoned`], [`StoreError::NoSpace`] or [`StoreError::Io`].
    pub fn close(mut self) -> Result<(), StoreError> {
        self.core.close()
    }
}

impl Drop for TensorStore {
    fn drop(&mut self) {
        let _ = self.core.close(); // callers that need the error call `close`
    }
}

impl Core {
    fn close(&mut self) -> Result<(), StoreError> {
        let now = self.now();
        self.log.take().map_or(Ok(()), |log| log.close(now))
    }

    /// Returns the log.
    ///
    /// # Errors
    /// Returns [`StoreError::ReadOnly`] if the store is open read-only.
    fn log(&self) -> Result<&Log, StoreError> {
        self.log.as_ref().ok_or(StoreError::ReadOnly)
    }

    /// Returns the time of the clock. It is not forced to increase: a clock that was once ahead must not stay ahead
    /// here.
    fn now(&self) -> u64 {
        self.config.clock.now()
    }

    fn links(&self) -> MutexGuard<'_, LinkTable> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn linking(&self) -> MutexGuard<'_, ()> {
        self.linking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compacting(&self) -> MutexGuard<'_, ()> {
        self.compacting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn manifest(&self) -> MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encoders(&self) -> MutexGuard<'_, Encoders> {
        self.encoders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the writer lock of one tensor.
    fn lock_tensor(&self, key: &[u8]) -> MutexGuard<'_, ()> {
        self.stripes[self.stripe(key)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the number of stripes")]
    fn stripe(&self, key: &[u8]) -> usize {
        self.index.hash(key) as usize % STRIPES
    }

    /// Takes the writer locks of several tensors.
    fn lock_tensors(&self, keys: &[&[u8]]) -> Vec<MutexGuard<'_, ()>> {
        let mut stripes: Vec<usize> = keys.iter().map(|key| self.stripe(key)).collect();
        // Sorted and without duplicates, so that two threads cannot deadlock.
        stripes.sort_unstable();
        stripes.dedup();
        stripes.iter().map(|&stripe| self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}
