//! The store: what users call, a file for each noun.

mod absent;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod backup;
mod batch;
mod compact;
mod dates;
mod describe;
mod drafts;
mod encode;
mod encoders;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod folder;
mod frame_head;
mod frames;
mod get;
mod limits;
mod links;
mod open;
mod options;
mod put;
mod reader;
mod rebuild;
mod remove;
mod retier;
mod rewrite;
mod run;
mod snapshot;
mod stats;
mod tick;
mod transfer;
mod verify;
mod view;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bitgrain_formats::segment::Manifest;

pub use self::batch::{Batch, Changes};
pub use self::compact::{CompactOptions, CompactReport};
pub use self::describe::Scan;
use self::encoders::Encoders;
pub use self::frames::{Frame, FrameProvenance};
pub use self::get::Tensor;
use self::links::LinkTable;
pub use self::options::PutOptions;
pub use self::remove::Dependents;
pub use self::snapshot::Snapshot;
pub use self::stats::{Stats, TierStats};
pub use self::tick::{TickPlan, TickReport, TierMove};
pub use self::verify::VerifyReport;
use self::view::Found;
use crate::backend::Backend;
use crate::index::{Entry, Index};
use crate::log::{Log, Segments};
use crate::recovery::RecoveryReport;
use crate::{StoreConfig, StoreError, TensorId};

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
    backend: Arc<dyn Backend>,
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

    /// What the index has of a tensor.
    fn find(&self, key: &[u8]) -> Option<Found> {
        self.index.with(key, Found::of)
    }

    /// As [`find`](Self::find), for a tensor that must be there.
    fn found(&self, id: &TensorId, key: &[u8]) -> Result<Found, StoreError> {
        self.find(key).ok_or_else(|| StoreError::NotFound { id: id.clone() })
    }

    /// Counts an access.
    fn touch(&self, key: &[u8]) -> Option<Found> {
        self.touch_with(key, Found::of)
    }

    /// Counts an access, and looks at the tensor.
    fn touch_with<T>(&self, key: &[u8], look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let now = self.now();
        self.index.touch(key, |entry| entry.usage.touch(now, &self.config.policy), look)
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

    /// Counts a write of a tensor that was there before, or was not. The first one is not written down: it follows from the
    /// time of the record.
    fn touch_written(&self, key: &[u8], before: bool, now: u64) {
        let touch = |entry: &Entry| entry.usage.touch(now, &self.config.policy);
        if before {
            self.index.touch(key, touch, |_| ());
        } else {
            self.index.with(key, touch);
        }
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
