//! An open segment, shared by the index, readers and compaction. A holder can read it even after its file was deleted.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

use bitgrain_formats::segment::{SegmentError, SegmentHeader, SegmentKind};

use crate::file_name::FileName;
use crate::memory_len::memory_len;
use crate::search::{Event, Journal};
use crate::storage::StorageFile;
use crate::{StoreError, TensorId};

/// An open segment.
pub(crate) struct Segment {
    /// Parsed file header.
    pub(crate) header: SegmentHeader,
    /// Initial value of its checksums, unique to the file.
    pub(crate) salt: u32,
    pub(crate) file: Arc<dyn StorageFile>,
    /// End offset of the records.
    pub(crate) end: AtomicU64,
    /// Bytes of live records.
    pub(crate) live: AtomicU64,
    /// Number of records that were appended but are not in the index yet; their writers still wait for the fsync.
    pending: AtomicU64,
    /// Length and index checksum, once the segment is sealed.
    pub(crate) sealed: OnceLock<Sealed>,
    /// Records that became live or dead since the last search.
    pub(crate) journal: Journal,
}

/// Values of a sealed segment that the manifest records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Length of the file in bytes.
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
            journal: Journal::default(),
        })
    }

    /// Returns the number of the segment.
    pub(crate) fn number(&self) -> u64 {
        self.header.number
    }

    /// Returns the file name.
    pub(crate) fn name(&self) -> String {
        FileName::Segment(self.header.number).to_string()
    }

    pub(crate) fn is_log(&self) -> bool {
        self.header.kind == SegmentKind::Log
    }

    /// Registers `records` as appended. The caller holds the lock that prevents the segment from being sealed.
    pub(crate) fn begin(&self, records: usize) {
        self.pending.fetch_add(records as u64, Relaxed);
    }

    /// Registers `records` as indexed.
    pub(crate) fn finish(&self, records: usize) {
        self.pending.fetch_sub(records as u64, Release);
    }

    /// Returns whether the segment is sealed and all its records are in the index, so that `live` is final.
    pub(crate) fn is_settled(&self) -> bool {
        self.sealed.get().is_some() && self.pending.load(Acquire) == 0
    }

    /// Returns the size of all records in bytes.
    pub(crate) fn records(&self) -> u64 {
        self.end.load(Relaxed).saturating_sub(SegmentHeader::LEN as u64)
    }

    /// Returns the size in bytes of records that are no longer live.
    pub(crate) fn garbage(&self) -> u64 {
        self.records().saturating_sub(self.live.load(Relaxed))
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.sealed.get().map_or_else(|| self.end.load(Relaxed), |sealed| sealed.len)
    }

    /// Returns whether the segment contains `len` bytes from `offset`.
    pub(crate) fn has(&self, offset: u64, len: usize) -> bool {
        offset.checked_add(len as u64).is_some_and(|end| end <= self.len())
    }

    /// Returns `len` bytes from `offset` if they exist and are mapped. Written bytes never change.
    pub(crate) fn mapped(&self, offset: u64, len: usize) -> Option<&[u8]> {
        if self.has(offset, len) { self.file.mapped(offset, len) } else { None }
    }

    /// Converts a length of this file to a length in memory.
    pub(crate) fn memory_len(&self, bytes: u64) -> Result<usize, StoreError> {
        memory_len(bytes, || self.name())
    }

    /// Fills `buffer` with the bytes from `offset`.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), StoreError> {
        // The name is formatted only on failure, because every read passes here.
        self.file.read_at(offset, buffer).map_err(|source| StoreError::io(self.name())(source))
    }

    /// Returns the error for a damaged record.
    pub(crate) fn damaged(&self, offset: u64, id: Option<&TensorId>, error: &SegmentError) -> StoreError {
        StoreError::Damaged { segment: self.name(), offset, id: id.cloned(), what: error.to_string() }
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segment").field("header", &self.header).field("end", &self.end).finish_non_exhaustive()
    }
}

/// Location of a record. Holding it keeps the segment readable.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) segment: Arc<Segment>,
    /// Byte offset of the record.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) len: u64,
    /// Sequence number: the position in the order of all changes.
    pub(crate) sequence: u64,
}

impl Place {
    /// Returns whether both refer to the same record in the same file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.segment.number() == other.segment.number() && self.offset == other.offset
    }

    /// Returns the length of the record in memory.
    pub(crate) fn memory_len(&self) -> Result<usize, StoreError> {
        self.segment.memory_len(self.len)
    }

    /// Returns whether the record can be read without a system call.
    pub(crate) fn is_mapped(&self) -> bool {
        usize::try_from(self.len).is_ok_and(|len| self.segment.mapped(self.offset, len).is_some())
    }

    /// Adds the record to the live bytes.
    pub(crate) fn count_in(&self) {
        self.segment.live.fetch_add(self.len, Relaxed);
        self.segment.journal.push(self.event(true));
    }

    /// Subtracts the record from the live bytes.
    pub(crate) fn count_out(&self) {
        self.segment.live.fetch_sub(self.len, Relaxed);
        self.segment.journal.push(self.event(false));
    }

    fn event(&self, live: bool) -> Event {
        Event { offset: self.offset, len: self.len, sequence: self.sequence, live }
    }
}
