//! Report of opening a store.

use crate::TensorId;

/// Report of opening a store. After a clean shutdown, all fields after `tensors` are empty or zero.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// Whether the store was just created.
    pub created: bool,
    /// Whether it was opened read-only, so that nothing was repaired.
    pub read_only: bool,
    /// Number of segments.
    pub segments: usize,
    /// Number of tensors.
    pub tensors: usize,
    /// Segments that were read completely because their index is missing or damaged.
    pub scanned: Vec<String>,
    /// Number of sealed segments among these, whose index is damaged.
    pub bad_indexes: usize,
    /// Bytes of an incomplete write, never acknowledged. Truncated if the store is open for writing.
    pub torn_bytes: u64,
    /// Complete records among them, such as those of an incomplete batch.
    pub torn_records: u64,
    /// Files that no longer, or not yet, belonged to the store when it crashed. Deleted if the store is open for
    /// writing.
    pub leftovers: Vec<String>,
    /// Durable data that is no longer readable. Empty unless opened with `OnDamage::Salvage`.
    pub damages: Vec<Damage>,
}

/// Location and description of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// File name, relative to the store.
    pub segment: String,
    /// Byte offset in the file.
    pub offset: u64,
    /// Affected tensor, if known.
    pub id: Option<TensorId>,
    /// Description of the damage.
    pub what: String,
}

impl RecoveryReport {
    /// Returns whether nothing had to be repaired. For a read-only store: whether all acknowledged data is readable,
    /// because an open log and leftover files may belong to an active writer and are not faults.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let settled = self.scanned.is_empty() && self.torn_bytes == 0 && self.leftovers.is_empty();
        self.damages.is_empty() && self.bad_indexes == 0 && (settled || self.read_only)
    }
}
