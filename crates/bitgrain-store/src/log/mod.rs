//! The log: records are appended to one segment until it is full and sealed; then the next one is started.
//!
//! Bodies are encoded before the lock is taken. Under the lock, a record gets its offset and head and is written. The
//! fsync runs without the lock, once for all waiting writers.

mod free_space;
mod group_commit;
mod segments;
mod uses;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bitgrain_formats::segment::{
    Content, Draft, Head, IndexBuilder, LogEnd, Manifest, SealedSegment, SegmentError, SegmentHeader, SegmentKind,
    Stamp, Trailer,
};

use smallvec::SmallVec;

use self::free_space::FreeSpace;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use self::free_space::RESERVE;
use self::group_commit::GroupCommit;
pub(crate) use self::segments::Segments;
pub(crate) use self::uses::{Use, usage_of, usage_records};
use crate::file_name::FileName;
use crate::index::Index;
use crate::segment::{Place, Sealed, Segment};
use crate::storage::Storage;
use crate::{StoreConfig, StoreError, SyncMode, manifest};

/// A record that has everything but its position.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// Encoded body.
    pub(crate) draft: Draft,
    /// Parsed content of the head.
    pub(crate) content: Content<'a>,
    /// Time at which its data was encoded, in milliseconds since 1970.
    pub(crate) time: u64,
}

impl<'a> Record<'a> {
    /// Creates a record with a copy of `body`.
    pub(crate) fn new(body: &[u8], content: Content<'a>, time: u64) -> Self {
        let mut draft = Draft::new(body.len());
        draft.body_mut().copy_from_slice(body);
        draft.checksum();
        Self { draft, content, time }
    }
}

/// Effect of an append on the size of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The store grows; the space reserved for compaction must remain free.
    Grow,
    /// The store shrinks with the next compaction; until then the reserved space may be used.
    Shrink,
}

/// Positions of a batch; most batches have one record.
pub(crate) type Places = SmallVec<[Place; 1]>;

/// End of the log, where appending continues.
#[derive(Debug, Default)]
pub(crate) struct LogTail {
    /// Segment being written; `None` if the last one is sealed.
    pub(crate) active: Option<Active>,
    /// Last sequence number assigned.
    pub(crate) sequence: u64,
    /// Number of the last sealed log segment.
    pub(crate) previous: u64,
    /// Whether the manifest still marks the log as closed.
    pub(crate) closed: bool,
}

/// The segment being written.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) segment: Arc<Segment>,
    /// Index under construction; also tracks the length of the segment.
    pub(crate) index: IndexBuilder,
    /// Bytes that written records already declare durable.
    said: u64,
}

impl Active {
    pub(crate) fn new(segment: Arc<Segment>, index: IndexBuilder) -> Self {
        Self { segment, index, said: 0 }
    }

    fn is_empty(&self) -> bool {
        self.index.end() <= SegmentHeader::LEN as u64
    }
}

/// Log of a store that is open for writing.
pub(crate) struct Log {
    storage: Arc<dyn Storage>,
    store: [u8; 16],
    /// Current manifest. Lock order: a holder of this lock may take `tail`. The reverse is allowed only while the log is
    /// closed, because compaction cannot run then.
    manifest: Arc<Mutex<Manifest>>,
    sync: SyncMode,
    segment_bytes: u64,
    /// Next file number.
    numbers: AtomicU64,
    index: Arc<Index>,
    segments: Arc<Segments>,
    tail: Mutex<LogTail>,
    commit: GroupCommit,
    free_space: FreeSpace,
}

impl Log {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        config: &StoreConfig,
        manifest: Arc<Mutex<Manifest>>,
        next_number: u64,
        tail: LogTail,
        index: Arc<Index>,
        segments: Arc<Segments>,
    ) -> Self {
        // Recovery made everything it found durable.
        let durable = tail.active.as_ref().map_or((tail.previous, u64::MAX), |a| (a.segment.number(), a.index.end()));
        let store = manifest.lock().unwrap_or_else(PoisonError::into_inner).store;
        let free_space = FreeSpace::new(Arc::clone(&storage));
        free_space.reserve(segments.bytes());
        Self {
            free_space,
            storage,
            store,
            manifest,
            sync: config.sync,
            segment_bytes: config.segment_bytes,
            numbers: AtomicU64::new(next_number),
            index,
            segments,
            tail: Mutex::new(tail),
            commit: GroupCommit::new(durable),
        }
    }

    /// Assigns a number for a new file.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Relaxed)
    }

    /// Returns the last sequence number assigned.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.tail().sequence
    }

    /// Appends records as one batch and returns their positions. They take effect when
    /// [`acknowledge`](Self::acknowledge) returns; once they are in the index, call
    /// [`finish`](Segment::finish) on their segment.
    pub(crate) fn append(&self, records: &mut [Record<'_>], now: u64, purpose: Purpose) -> Result<Places, StoreError> {
        // Deletions may use the reserved space, because they allow compaction to free more.
        if records.iter().all(|record| matches!(record.content, Content::Delete(_) | Content::Usage)) {
            return self.with_reserve(|| self.append_to(&mut self.tail(), records, now));
        }
        let size: u64 = records.iter().map(|record| record.draft.body().len() as u64).sum();
        let mut tail = self.tail();
        let written = tail.active.as_ref().map_or(0, |active| active.index.end()).saturating_add(size);
        if purpose == Purpose::Shrink {
            self.free_space.check_tight(size, written)?;
        } else if self.free_space.check(size, || self.segments.largest().max(written).min(self.segment_bytes))? {
            self.free_space.reserve(self.segments.bytes());
        }
        self.append_to(&mut tail, records, now)
    }

    fn append_to(&self, tail: &mut LogTail, records: &mut [Record<'_>], now: u64) -> Result<Places, StoreError> {
        let size: u64 = records.iter().map(|record| record.draft.body().len() as u64).sum();
        self.commit.check()?;
        if tail.active.as_ref().is_some_and(|a| !a.is_empty() && a.index.end() + size > self.segment_bytes) {
            self.seal_active(tail, now)?;
        }
        if tail.active.is_none() {
            self.begin(tail, now)?;
        }
        let places = self.write(tail, records)?;
        // All records of a batch are in one segment.
        places.iter().take(1).for_each(|place| place.segment.begin(places.len()));
        Ok(places)
    }

    /// Waits until a batch that ends with `last` can be acknowledged.
    pub(crate) fn acknowledge(&self, last: &Place) -> Result<(), StoreError> {
        if self.sync == SyncMode::OnSeal {
            return Ok(());
        }
        self.commit.wait((last.segment.number(), last.offset + last.len), || self.written())
    }

    /// Makes all writes so far durable.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.commit.check()?;
        let Some((segment, end)) = self.written() else { return Ok(()) };
        self.commit.wait((segment.number(), end), || self.written())
    }

    /// Seals the current segment unless it is empty. The next record starts a new one.
    pub(crate) fn seal(&self, now: u64) -> Result<(), StoreError> {
        self.with_reserve(|| {
            let mut tail = self.tail();
            self.commit.check()?;
            if tail.active.as_ref().is_some_and(|active| !active.is_empty()) {
                self.seal_active(&mut tail, now)?;
            }
            Ok(())
        })
    }

    /// Runs `work`, which frees space or closes the log; if the disk is full, releases the reserve and retries once.
    fn with_reserve<T>(&self, mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        match work() {
            Err(StoreError::NoSpace { .. }) if self.free_space.release() => work(),
            done => done,
        }
    }

    /// Deletes the reserve file to free its space; returns `false` if it did not exist.
    pub(crate) fn release_reserve(&self) -> bool {
        self.free_space.release()
    }

    /// Recreates the reserve file if there is space.
    pub(crate) fn restore_reserve(&self) {
        self.free_space.reserve(self.segments.bytes());
    }

    /// Seals the log and writes a manifest that marks it as closed, unless the current one already does. From then on,
    /// missing records are damage and not the result of a crash. On a full disk, the log stays open and everything in
    /// it is durable.
    pub(crate) fn close(&self, now: u64) -> Result<(), StoreError> {
        match self.with_reserve(|| self.seal_and_close(now)) {
            Err(StoreError::NoSpace { .. }) => self.flush(),
            closed => closed,
        }
    }

    fn seal_and_close(&self, now: u64) -> Result<(), StoreError> {
        self.write_uses(now)?;
        let mut tail = self.tail();
        self.commit.check()?;
        if tail.active.is_some() {
            self.seal_active(&mut tail, now)?;
        }
        if tail.closed {
            return Ok(());
        }
        let end = end_of(&self.segments.all());
        if end != LogEnd::Open {
            self.replace_manifest(end)?;
            tail.closed = true;
        }
        Ok(())
    }

    /// Reverts [`close`](Self::close); durable when this returns.
    pub(crate) fn reopen(&self) -> Result<(), StoreError> {
        self.with_reserve(|| self.reopen_at(&mut self.tail()))
    }

    fn reopen_at(&self, tail: &mut LogTail) -> Result<(), StoreError> {
        if tail.closed {
            self.replace_manifest(LogEnd::Open)?;
            tail.closed = false;
        }
        Ok(())
    }

    /// Rewrites the manifest with another log end. Both versions are valid, so a crash between them is harmless.
    fn replace_manifest(&self, log_end: LogEnd) -> Result<(), StoreError> {
        let mut manifest = self.manifest.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Manifest { number: self.next_number(), log_end, ..manifest.clone() };
        manifest::write(&*self.storage, &new).inspect_err(|error| {
            if !matches!(error, StoreError::NoSpace { .. }) {
                self.poison_with(error);
            }
        })?;
        let old = std::mem::replace(&mut *manifest, new);
        // If this fails, the next open deletes the file.
        let _ = self.storage.remove(&FileName::Manifest(old.number).to_string());
        Ok(())
    }

    /// Writes the usage of tensors since the last call. Returns `false` if there was none.
    pub(crate) fn write_uses(&self, now: u64) -> Result<bool, StoreError> {
        let mut tail = self.tail();
        self.commit.check()?;
        let mut uses = usage_records(&self.index, now)?;
        if uses.is_empty() {
            return Ok(false);
        }
        self.with_reserve(|| {
            if tail.active.is_none() {
                self.begin(&mut tail, now)?;
            }
            self.write(&mut tail, &mut uses).map(drop)
        })?;
        Ok(true)
    }

    /// Returns the number of the current or next segment: all log segments before it are sealed.
    pub(crate) fn active_number(&self) -> u64 {
        let tail = self.tail();
        tail.active.as_ref().map_or_else(|| self.numbers.load(Relaxed), |active| active.segment.number())
    }

    /// Makes the store read-only, because the contents of the disk are unknown.
    pub(crate) fn poison(&self) {
        self.commit.poison();
    }

    /// Makes the store read-only because of `error`.
    pub(crate) fn poison_with(&self, error: &StoreError) {
        self.commit.poison_with(error);
    }

    /// # Errors
    /// Returns [`StoreError::Poisoned`] after a failed write.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.commit.check()
    }

    /// Fsyncs the folder, which makes file names durable.
    pub(crate) fn sync_folder(&self) -> Result<(), StoreError> {
        self.storage.sync_folder().map_err(|source| {
            let error = StoreError::in_doubt(".".into(), source);
            self.poison_with(&error);
            error
        })
    }

    /// Fsyncs a sealed segment.
    pub(crate) fn seal_segment(&self, segment: &Segment) -> Result<(), StoreError> {
        self.commit.seal(segment)
    }

    fn written(&self) -> Option<(Arc<Segment>, u64)> {
        self.tail().active.as_ref().map(|active| (Arc::clone(&active.segment), active.index.end()))
    }

    /// Starts a segment. Its header and name are durable before the first record, so an incomplete header followed by
    /// records is always damage and never the result of a crash.
    fn begin(&self, tail: &mut LogTail, now: u64) -> Result<(), StoreError> {
        self.reopen_at(tail)?;
        let header = SegmentHeader {
            kind: SegmentKind::Log,
            store: self.store,
            number: self.next_number(),
            previous: tail.previous,
            base_sequence: tail.sequence + 1,
            base_time: now,
        };
        let segment = self.create(header)?;
        self.segments.insert(Arc::clone(&segment));
        tail.active = Some(Active::new(segment, IndexBuilder::new(&header)));
        Ok(())
    }

    /// Creates a segment with a durable header and name.
    pub(crate) fn create(&self, header: SegmentHeader) -> Result<Arc<Segment>, StoreError> {
        let name = FileName::Segment(header.number).to_string();
        let file = self.storage.create_new(&name).map_err(StoreError::io(&*name))?;
        let segment = Segment::new(header, file, SegmentHeader::LEN as u64);
        if let Err(source) = segment.file.write_at(0, &header.encode()) {
            if self.storage.remove(&name).is_err() {
                self.poison(); // the next open deletes the file
            }
            return Err(StoreError::io(name)(source));
        }
        self.commit.sync(&segment)?;
        self.sync_folder()?;
        Ok(segment)
    }

    /// Writes records one after another, as one batch.
    fn write(&self, tail: &mut LogTail, records: &mut [Record<'_>]) -> Result<Places, StoreError> {
        self.reopen_at(tail)?; // a no-op if the segment was started here
        let LogTail { active: Some(active), sequence, .. } = tail else { return Ok(Places::new()) };
        let (header, salt) = (active.segment.header, active.segment.salt);
        let durable = match self.commit.durable() {
            (number, bytes) if number == header.number && bytes > active.said => Some(bytes),
            _ => None,
        };
        let start = active.index.end();
        let count = records.len();
        let (mut heads, mut joined) = (SmallVec::<[_; 1]>::with_capacity(count), Vec::new());
        let mut single: &[u8] = &[];
        let left = u32::try_from(count.saturating_sub(1)).map_err(|_| batch_too_long(count))?;
        for (i, record) in (0..).zip(records.iter_mut()) {
            let stamp = Stamp {
                sequence: *sequence + 1 + u64::from(i),
                batch_left: left - i,
                pending: durable.filter(|_| i == 0).map(|durable| start.saturating_sub(durable)),
                time: record.time,
            };
            // The content is moved out for encoding and moved back afterwards.
            let head = Head { stamp, content: std::mem::replace(&mut record.content, Content::Usage) };
            let bytes = record.draft.finish_salted(&header, salt, &head).map_err(unwritable)?;
            heads.push((head, bytes.len() as u64));
            if count == 1 { single = bytes } else { joined.extend_from_slice(bytes) }
        }
        let bytes = if count == 1 { single } else { &joined };
        if let Err(source) = active.segment.file.write_at(start, bytes) {
            // Moved back, because the caller may retry when there is more space.
            records.iter_mut().zip(heads).for_each(|(record, (head, _))| record.content = head.content);
            return Err(self.undo(&active.segment, start, source));
        }
        *sequence += count as u64;
        active.said = durable.unwrap_or(active.said);
        let mut places = Places::with_capacity(count);
        for (record, (head, len)) in records.iter_mut().zip(heads) {
            let (segment, offset) = (Arc::clone(&active.segment), active.index.end());
            active.index.push(&head, len).map_err(|error| {
                self.poison(); // unreachable: the index accepts every record whose head could be encoded
                unwritable(error)
            })?;
            places.push(Place { segment, offset, len, sequence: head.stamp.sequence });
            record.content = head.content;
        }
        active.segment.end.store(active.index.end(), Relaxed);
        Ok(places)
    }

    /// Truncates the partial bytes of a failed write.
    fn undo(&self, segment: &Segment, end: u64, source: std::io::Error) -> StoreError {
        if segment.file.set_len(end).is_err() {
            self.poison();
        }
        StoreError::io(segment.name())(source)
    }

    /// Writes usage, index and trailer, and makes all of it durable.
    fn seal_active(&self, tail: &mut LogTail, now: u64) -> Result<(), StoreError> {
        let mut uses = usage_records(&self.index, now)?;
        if !uses.is_empty() {
            self.write(tail, &mut uses)?;
        }
        let Some(active) = &tail.active else { return Ok(()) };
        // A valid index implies that every record is present, so the records must be durable before it.
        self.commit.sync(&active.segment)?;
        seal(&active.segment, &active.index)
            .map_err(|source| self.undo(&active.segment, active.index.end(), source))?;
        self.commit.seal(&active.segment)?;
        self.commit.advance((active.segment.number(), u64::MAX));
        tail.previous = active.segment.number();
        tail.active = None;
        Ok(())
    }

    fn tail(&self) -> MutexGuard<'_, LogTail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the log end for these segments: open if the last segment is.
pub(crate) fn end_of(segments: &[Arc<Segment>]) -> LogEnd {
    let Some(last) = segments.iter().rfind(|segment| segment.is_log()) else { return LogEnd::Closed(None) };
    last.sealed.get().map_or(LogEnd::Open, |sealed| {
        let Sealed { len, index_crc } = *sealed;
        LogEnd::Closed(Some(SealedSegment { number: last.number(), len, index_crc }))
    })
}

/// Writes the index and trailer after the last record.
pub(crate) fn seal(segment: &Segment, index: &IndexBuilder) -> std::io::Result<()> {
    let bytes = index.finish(&segment.header);
    segment.file.write_at(index.end(), &bytes)?;
    let len = index.end() + bytes.len() as u64;
    let trailer = bytes.last_chunk().and_then(|tail| Trailer::parse(tail, &segment.header, len).ok().flatten());
    let index_crc = trailer.map_or(0, |trailer| trailer.index_crc);
    // A segment is sealed once; a second value would be identical.
    let _ = segment.sealed.set(Sealed { len, index_crc });
    Ok(())
}

/// Returns the error for a batch with too many records for the format.
fn batch_too_long(records: usize) -> StoreError {
    StoreError::Unwritable { what: format!("a batch of {records} records; at most {} are allowed", u32::MAX) }
}

/// Converts the error for a record that the format cannot represent.
pub(crate) fn unwritable(error: SegmentError) -> StoreError {
    StoreError::Unwritable { what: error.to_string() }
}
