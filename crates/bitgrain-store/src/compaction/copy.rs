//! Copying of the live records of a run of segments.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bitgrain_formats::segment::{
    EntryKind, Head, Index as SegmentIndex, IndexBuilder, SegmentHeader, SegmentKind, Stamp, Trailer, UsageEntries,
    write_record,
};

use crate::id::Key;
use crate::index::{Groups, Index};
use crate::log::{Log, Record, Use, seal, unwritable, usage_of};
use crate::recovery::for_each_record;
use crate::segment::{Place, Segment};
use crate::storage::Storage;
use crate::{StoreError, TensorId, record};

/// Bytes written at once.
const PIECE: usize = 1 << 20;

/// A copied record.
pub(crate) struct Copied {
    pub(crate) key: Key,
    /// Frame index; `None` for the record of the tensor itself.
    pub(crate) frame: Option<u64>,
    pub(crate) from: Place,
    pub(crate) to: Place,
}

/// Copies records to new segments.
pub(crate) struct Copier<'a> {
    log: &'a Log,
    index: &'a Index,
    store: [u8; 16],
    segment_bytes: u64,
    /// Whether the run starts at the first segment; deletions then have nothing older to hide and are not copied.
    first: bool,
    /// New segments that are sealed.
    pub(crate) done: Vec<Arc<Segment>>,
    open: Option<Output>,
    pub(crate) copied: Vec<Copied>,
    /// Tensors with usage records in the run.
    used: BTreeSet<Key>,
    /// Sequence number and time of the last record of the run.
    last: (u64, u64),
}

/// A new segment being written.
struct Output {
    segment: Arc<Segment>,
    index: IndexBuilder,
    /// Bytes not yet written to the file.
    buffer: Vec<u8>,
    written: u64,
}

impl<'a> Copier<'a> {
    pub(crate) fn new(log: &'a Log, index: &'a Index, store: [u8; 16], segment_bytes: u64, first: bool) -> Self {
        let (done, copied, used) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { log, index, store, segment_bytes, first, done, open: None, copied, used, last: (0, 0) }
    }

    /// Copies the live records of one segment of the run.
    pub(crate) fn segment(&mut self, segment: &Arc<Segment>) -> Result<(), StoreError> {
        for (kind, key, place) in records_of(segment)? {
            self.last = (self.last.0.max(place.sequence), self.last.1);
            let live = match (kind, &key) {
                (EntryKind::Usage, _) => self.note_uses(&place)?,
                (EntryKind::Delete, _) => !self.first,
                (EntryKind::Tensor, Some(key)) => self.index.with(key, |entry| entry.place.is(&place)) == Some(true),
                (EntryKind::Frame(i), Some(key)) => {
                    let frame =
                        |frames: &Arc<Vec<Place>>| usize::try_from(i).ok().and_then(|at| frames.get(at).cloned());
                    let is = |frames: &Arc<Vec<Place>>| frame(frames).is_some_and(|frame| frame.is(&place));
                    self.index.with(key, |entry| entry.frames.as_ref().is_some_and(is)) == Some(true)
                }
                _ => false,
            };
            if live {
                self.copy(kind, key, place)?;
            }
        }
        Ok(())
    }

    /// Writes the usage of tensors with usage records in the run, and seals the open segment.
    pub(crate) fn finish(&mut self, now: u64) -> Result<(), StoreError> {
        let used = std::mem::take(&mut self.used).into_iter();
        // The index of a damaged segment may list records that opening has dropped, with any sequence number. A number that
        // was never assigned would keep the store from being opened again.
        let sequence = self.last.0.min(self.log.last_sequence());
        let used = used.filter_map(|key| self.index.with(&key, Use::of));
        for record in usage_of(used.collect(), self.index, Groups::All, now)? {
            let Record { draft, content, time } = record;
            let stamp = Stamp { sequence, batch_left: 0, pending: None, time };
            let place = self.write(&Head { stamp, content }, draft.body())?;
            place.count_in(); // usage records stay live as long as their segment
        }
        self.seal()
    }

    fn copy(&mut self, kind: EntryKind, key: Option<Key>, from: Place) -> Result<(), StoreError> {
        let id = key.as_deref().map(TensorId::of_key);
        record::with_buffer(|buffer| {
            let whole = record::copy(&from, id.as_ref(), buffer)?;
            let stamp = Stamp { batch_left: 0, pending: None, ..whole.view.head.stamp };
            let to = self.write(&Head { stamp, content: whole.view.head.content.clone() }, whole.body)?;
            match (kind, key) {
                (EntryKind::Tensor, Some(key)) => self.copied.push(Copied { key, frame: None, from, to }),
                (EntryKind::Frame(i), Some(key)) => self.copied.push(Copied { key, frame: Some(i), from, to }),
                _ => to.count_in(),
            }
            Ok(())
        })
    }

    /// Appends a record to the open segment, or to a new one if that is full.
    fn write(&mut self, head: &Head<'_>, body: &[u8]) -> Result<Place, StoreError> {
        let full = |output: &Output| output.index.end() + body.len() as u64 > self.segment_bytes;
        if self.open.as_ref().is_some_and(full) {
            self.seal()?;
        }
        if self.open.is_none() {
            let header = SegmentHeader {
                kind: SegmentKind::Compacted,
                store: self.store,
                number: self.log.next_number(),
                previous: 0,
                base_sequence: head.stamp.sequence,
                base_time: head.stamp.time,
            };
            let segment = self.log.create(header)?;
            let (index, written) = (IndexBuilder::new(&header), SegmentHeader::LEN as u64);
            self.open = Some(Output { segment, index, buffer: Vec::new(), written });
        }
        let Some(output) = &mut self.open else { return Err(StoreError::Poisoned) };
        let offset = output.index.end();
        let len = write_record(&mut output.buffer, &output.segment.header, head, body).map_err(unwritable)? as u64;
        output.index.push(head, len).map_err(unwritable)?;
        if output.buffer.len() >= PIECE {
            output.flush()?;
        }
        Ok(Place { segment: Arc::clone(&output.segment), offset, len, sequence: head.stamp.sequence })
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        let Some(output) = &mut self.open else { return Ok(()) };
        output.flush()?;
        let segment = Arc::clone(&output.segment);
        segment.end.store(output.index.end(), Relaxed);
        seal(&segment, &output.index).map_err(StoreError::io(segment.name()))?;
        self.log.seal_segment(&segment)?;
        self.open = None;
        self.done.push(segment);
        Ok(())
    }

    /// Collects the tensors of a usage record. The record is not copied, because `finish` writes a new one.
    fn note_uses(&mut self, place: &Place) -> Result<bool, StoreError> {
        record::with_buffer(|buffer| {
            let whole = record::copy(place, None, buffer)?;
            let mut entries = UsageEntries::new(whole.body);
            while let Ok(Some(entry)) = entries.next() {
                self.used.insert(TensorId::from(entry.id).key());
            }
            Ok(false)
        })
    }

    /// Deletes the new segments, sealed or not.
    pub(crate) fn discard(&self, storage: &dyn Storage) {
        for segment in self.done.iter().chain(self.open.iter().map(|output| &output.segment)) {
            let _ = storage.remove(&segment.name()); // if this fails, the next open deletes the file
        }
    }
}

impl Output {
    fn flush(&mut self) -> Result<(), StoreError> {
        let failed = StoreError::io(self.segment.name());
        self.segment.file.write_at(self.written, &self.buffer).map_err(failed)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Records of a sealed segment in order, with the keys of their tensors.
type Listed = Vec<(EntryKind, Option<Key>, Place)>;

fn records_of(segment: &Arc<Segment>) -> Result<Listed, StoreError> {
    let Some(sealed) = segment.sealed.get() else { return Ok(Vec::new()) };
    let mut tail = [0; Trailer::LEN];
    segment.read(sealed.len - tail.len() as u64, &mut tail)?;
    let key_of = |id: bitgrain_formats::segment::IdRef<'_>| TensorId::from(id).key();
    let place_of = |offset, len, sequence| Place { segment: Arc::clone(segment), offset, len, sequence };
    let mut listed = Vec::new();
    if let Ok(Some(trailer)) = Trailer::parse(&tail, &segment.header, sealed.len) {
        let mut bytes = vec![0; segment.memory_len(trailer.index_len)?];
        segment.read(trailer.index_offset, &mut bytes)?;
        let walked = SegmentIndex::parse(&bytes, &trailer, &segment.header).and_then(|index| {
            let mut entries = index.entries();
            while let Some(entry) = entries.next()? {
                listed.push((entry.kind, entry.id.map(key_of), place_of(entry.offset, entry.length, entry.sequence)));
            }
            Ok(())
        });
        if walked.is_ok() {
            return Ok(listed);
        }
        listed.clear();
    }
    // The index is damaged but the records are intact, as opening the store has verified.
    let mut bytes = vec![0; segment.memory_len(segment.end.load(Relaxed))?];
    segment.read(0, &mut bytes)?;
    for_each_record(segment, &bytes, |entry| {
        listed.push((entry.kind, entry.id.map(key_of), place_of(entry.offset, entry.length, entry.sequence)));
    })?;
    Ok(listed)
}
