//! What opening a store found.

use crate::TensorId;

/// What opening a store found and did. After a clean end of the last process all but the first three are empty or zero.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// True if the store was made just now.
    pub created: bool,
    /// True if it was opened for reading only, so that nothing was repaired.
    pub read_only: bool,
    /// Segments that count.
    pub segments: usize,
    /// Tensors that are there.
    pub tensors: usize,
    /// Segments that were read from end to end, as they have no index or a bad one.
    pub scanned: Vec<String>,
    /// Segments among these that were sealed, and so have a bad index.
    pub bad_indexes: usize,
    /// Bytes of a write that a crash cut short; they were never acknowledged. Cut off if the store is open for writing.
    pub torn_bytes: u64,
    /// Whole records among them, such as those of a batch without its end.
    pub torn_records: u64,
    /// Files that did not count any more, or not yet when a crash came. Removed if the store is open for writing.
    pub leftovers: Vec<String>,
    /// What was durable once and is not readable any more. Empty unless opened with `OnDamage::Salvage`.
    pub damages: Vec<Damage>,
}

/// A place where a store is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// File, relative to the store.
    pub segment: String,
    /// Where in it.
    pub offset: u64,
    /// The tensor, if it is known.
    pub id: Option<TensorId>,
    /// What is wrong.
    pub what: String,
}

impl RecoveryReport {
    /// True if there was nothing to repair. For a reader: if everything that was acknowledged is readable. It cannot tell the
    /// log and the files of a writer at work from those that a crash left, and neither is a fault of the store.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let settled = self.scanned.is_empty() && self.torn_bytes == 0 && self.leftovers.is_empty();
        self.damages.is_empty() && self.bad_indexes == 0 && (settled || self.read_only)
    }
}
