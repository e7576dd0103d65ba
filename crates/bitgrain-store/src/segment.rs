//! An open segment, shared by the index, readers and compaction: whoever holds it may read it, even after its name is gone.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

use bitgrain_formats::segment::{SegmentError, SegmentHeader, SegmentKind};

use crate::file_name::FileName;
use crate::memory_len::memory_len;
use crate::storage::StorageFile;
use crate::{StoreError, TensorId};

/// An open segment.
pub(crate) struct Segment {
    /// What it says of itself.
    pub(crate) header: SegmentHeader,
    /// What its checksums begin with.
    pub(crate) salt: u32,
    /// The file.
    pub(crate) file: Arc<dyn StorageFile>,
    /// Where its records end.
    pub(crate) end: AtomicU64,
    /// Bytes of records that count.
    pub(crate) live: AtomicU64,
    /// Records that were appended and do not count yet: nobody knows of them but who waits for the disk.
    pending: AtomicU64,
    /// Length and checksum of the index, once it is sealed.
    pub(crate) sealed: OnceLock<Sealed>,
}

/// What a manifest has to know of a sealed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Bytes of the file.
    pub(crate) len: u64,
    /// Checksum of the index.
    pub(crate) index_crc: u32,
}

impl Segment {
    pub(crate) fn new(header: SegmentHeader, file: Arc<dyn StorageFile>, end: u64) -> Arc<Self> {
        Arc::new(Self {
            header,
            salt: header.salt(),
            file,
            end: AtomicU64::new(end),
            live: AtomicU64::new(0),
            pending: AtomicU64::new(0),
            sealed: OnceLock::new(),
        })
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.header.number
    }

    /// Name of its file.
    pub(crate) fn name(&self) -> String {
        FileName::Segment(self.header.number).to_string()
    }

    pub(crate) fn is_log(&self) -> bool {
        self.header.kind == SegmentKind::Log
    }

    /// Notes that `records` were appended. While this is called nobody can seal the segment.
    pub(crate) fn begin(&self, records: usize) {
        self.pending.fetch_add(records as u64, Relaxed);
    }

    /// Notes that `records` are in the index.
    pub(crate) fn finish(&self, records: usize) {
        self.pending.fetch_sub(records as u64, Release);
    }

    /// True if the index says which of the records count: there will be no more of them, and none is under way.
    pub(crate) fn is_settled(&self) -> bool {
        self.sealed.get().is_some() && self.pending.load(Acquire) == 0
    }

    /// Bytes of records.
    pub(crate) fn records(&self) -> u64 {
        self.end.load(Relaxed).saturating_sub(SegmentHeader::LEN as u64)
    }

    /// Bytes of records that no longer count.
    pub(crate) fn garbage(&self) -> u64 {
        self.records().saturating_sub(self.live.load(Relaxed))
    }

    /// Bytes of the file.
    pub(crate) fn len(&self) -> u64 {
        self.sealed.get().map_or_else(|| self.end.load(Relaxed), |sealed| sealed.len)
    }

    /// True if it has `len` bytes from `offset` on.
    pub(crate) fn has(&self, offset: u64, len: usize) -> bool {
        offset.checked_add(len as u64).is_some_and(|end| end <= self.len())
    }

    /// `len` bytes from `offset` on, if it has them and they are mapped. They were written before, and never change.
    pub(crate) fn mapped(&self, offset: u64, len: usize) -> Option<&[u8]> {
        if self.has(offset, len) { self.file.mapped(offset, len) } else { None }
    }

    /// `bytes` of its file as a length in memory.
    pub(crate) fn memory_len(&self, bytes: u64) -> Result<usize, StoreError> {
        memory_len(bytes, || self.name())
    }

    /// Fills `buffer` from `offset` on.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        // Named only if it fails: this is on the way of every read.
        self.file.read_at(offset, buffer).map_err(|source| StoreError::io(self.name())(source))
    }

    /// The error for a record that is not what was written.
    pub(crate) fn damaged(&self, offset: u64, id: Option<&TensorId>, error: &SegmentError) -> StoreError {
        StoreError::Damaged { segment: self.name(), offset, id: id.cloned(), what: error.to_string() }
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("header", &self.header).field("end", &self.end).finish_non_exhaustive()
    }
}

/// Where a record is. Holding it keeps the segment readable.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The segment.
    pub(crate) segment: Arc<Segment>,
    /// Where the record begins.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) len: u64,
    /// Its position in the order of all changes.
    pub(crate) sequence: u64,
}

impl Place {
    /// True if both are the same record in the same file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.segment.number() == other.segment.number() && self.offset == other.offset
    }

    /// Bytes of the record as a length in memory.
    pub(crate) fn memory_len(&self) -> Result<usize, StoreError> {
        self.segment.memory_len(self.len)
    }

    /// True if it can be looked at without asking the system.
    pub(crate) fn is_mapped(&self) -> bool {
        usize::try_from(self.len).is_ok_and(|len| self.segment.mapped(self.offset, len).is_some())
    }

    /// Counts the record among those that count.
    pub(crate) fn count_in(&self) {
        self.segment.live.fetch_add(self.len, Relaxed);
    }

    /// Counts the record among those that do not.
    pub(crate) fn count_out(&self) {
        self.segment.live.fetch_sub(self.len, Relaxed);
    }
}
