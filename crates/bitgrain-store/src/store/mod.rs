//! The store: what users call, a file for each noun.

mod append;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod backup;
mod batch;
mod commit;
mod compact;
mod copy;
mod draft_pool;
mod edit;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod folder;
mod frame_encoders;
mod frame_head;
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
mod snapshot;
mod stats;
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
pub use self::frames::Frame;
pub use self::get::StoredTensor;
use self::links::LinkTable;
pub use self::meta::Scan;
pub use self::put_options::PutOptions;
pub use self::remove::Dependents;
pub use self::snapshot::Snapshot;
pub use self::stats::{StoreStats, TierStats};
pub use self::tick::{TickPlan, TickReport, TierMove};
pub use self::verify::VerifyReport;
use crate::index::Index;
use crate::log::{Log, Segments};
use crate::recovery::RecoveryReport;
use crate::storage::Storage;
use crate::{StoreConfig, StoreError};

/// An open store of tensors.
///
/// May be shared by threads: readers do not wait for each other or for writers, and writers only share the wait for the disk.
/// What a method acknowledged with `Ok` is there after a crash, as [`SyncMode`](crate::SyncMode) says.
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

/// What there is of an open store.
struct Core {
    storage: Arc<dyn Storage>,
    config: StoreConfig,
    index: Arc<Index>,
    segments: Arc<Segments>,
    /// None if it is open for reading only.
    log: Option<Log>,
    manifest: Arc<Mutex<Manifest>>,
    /// One of these is held from looking at a tensor until the change that follows from it is in the index.
    stripes: Vec<Mutex<()>>,
    /// Who is reconstructed from whom.
    links: Mutex<LinkTable>,
    /// Held by whoever adds to that, so that no two make a circle together.
    linking: Mutex<()>,
    encoders: Mutex<Encoders>,
    /// Held by whoever compacts, or wants the segments to stay.
    compacting: Mutex<()>,
    report: RecoveryReport,
}

/// Locks of writers: enough that two tensors rarely have the same.
const STRIPES: usize = 1024;

impl TensorStore {
    /// What was found when the store was opened.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.core.report
    }

    /// Settings it was opened with.
    #[must_use]
    pub fn config(&self) -> &StoreConfig {
        &self.core.config
    }

    /// Number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.core.index.len()
    }

    /// True if there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes everything that was written durable, whatever the [`SyncMode`](crate::SyncMode).
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::Io`].
    pub fn flush(&self) -> Result<(), StoreError> {
        self.core.log()?.flush()
    }

    /// Writes down how tensors were used, seals the log, makes all of it durable and writes down that it is. So whatever is
    /// missing when the store is opened next is damage, and never taken for the work of a crash. Dropping the store does the same, but
    /// cannot say if that failed.
    ///
    /// # Errors
    /// [`StoreError::Poisoned`], [`StoreError::NoSpace`], [`StoreError::Io`].
    pub fn close(mut self) -> Result<(), StoreError> {
        self.core.close()
    }
}

impl Drop for TensorStore {
    fn drop(&mut self) {
        let _ = self.core.close(); // whoever wants to know calls `close`
    }
}

impl Core {
    fn close(&mut self) -> Result<(), StoreError> {
        let now = self.now();
        self.log.take().map_or(Ok(()), |log| log.close(now))
    }

    /// The log.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] if the store is open for reading only.
    fn log(&self) -> Result<&Log, StoreError> {
        self.log.as_ref().ok_or(StoreError::ReadOnly)
    }

    /// The time, as the clock has it. It may go backwards: a clock that was ahead must not leave the store there.
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

    /// Holds the writers' lock of one tensor.
    fn hold_one(&self, key: &[u8]) -> MutexGuard<'_, ()> {
        self.stripes[self.stripe(key)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::cast_possible_truncation, reason = "below the number of stripes")]
    fn stripe(&self, key: &[u8]) -> usize {
        self.index.hash(key) as usize % STRIPES
    }

    /// Holds the writers' locks of some tensors.
    fn hold(&self, keys: &[&[u8]]) -> Vec<MutexGuard<'_, ()>> {
        let mut stripes: Vec<usize> = keys.iter().map(|key| self.stripe(key)).collect();
        // In one order for everybody, each once: no two wait for each other.
        stripes.sort_unstable();
        stripes.dedup();
        stripes.iter().map(|&stripe| self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}
