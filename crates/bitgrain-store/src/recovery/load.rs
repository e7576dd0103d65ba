//! Loading of one segment as changes of the index.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_formats::segment::{Entry, EntryKind, Form, Index as SegmentIndex, IndexBuilder, SegmentError, Trailer};

use super::Damage;
use super::files::Found;
use super::scan::{Scan, Tail};
use crate::id::Key;
use crate::index::{Change, Index, SHARDS, Traits};
use crate::segment::{Place, Sealed, Segment};
use crate::{OnDamage, StoreError, TensorId, Tier};

/// Content of a segment.
pub(super) struct Loaded {
    pub(super) segment: Arc<Segment>,
    /// Changes per shard, in record order, with their hashes.
    pub(super) changes: Vec<Vec<(u64, Change)>>,
    /// Locations of usage records.
    pub(super) uses: Vec<Place>,
    /// Deleted tensors, with the sequence number of the deletion.
    pub(super) deleted: Vec<(Key, u64)>,
    /// Reconstruction links: tensor and base.
    pub(super) needs: Vec<(Key, Key)>,
    pub(super) last_sequence: u64,
    /// Index under construction, if the segment is not sealed.
    pub(super) open: Option<IndexBuilder>,
    pub(super) scanned: bool,
    pub(super) torn_bytes: u64,
    pub(super) torn_records: u64,
    pub(super) damages: Vec<Damage>,
}

impl Loaded {
    /// Loads a segment from its index, or from all its records if the index is damaged or, with `open_end`, missing.
    pub(super) fn of(found: &Found, open_end: bool, on_damage: OnDamage, index: &Index) -> Result<Self, StoreError> {
        let mut loaded = Self {
            segment: Arc::clone(&found.segment),
            changes: (0..SHARDS).map(|_| Vec::new()).collect(),
            uses: Vec::new(),
            deleted: Vec::new(),
            needs: Vec::new(),
            last_sequence: 0,
            open: None,
            scanned: false,
            torn_bytes: 0,
            torn_records: 0,
            damages: Vec::new(),
        };
        if let Ok(Some(sealed)) = loaded.read_index(found, index)? {
            let _ = found.segment.sealed.set(sealed); // cannot fail: a segment is loaded once
            return Ok(loaded);
        }
        if let Some(expected) = found.expected.map(|sealed| sealed.len).filter(|len| *len != found.len) {
            let error = SegmentError::Length { what: "the segment", offset: 0, expected, found: found.len };
            loaded.damage(0, &error, on_damage)?;
        }
        // An index may only be missing or incomplete where a crash may have happened before it was durable.
        let tail = if open_end { Tail::Open } else { Tail::Sealed };
        loaded.scan(found, tail, on_damage, index)?;
        Ok(loaded)
    }

    /// Loads the entries of the segment's index. The inner result is `None` if there is no index, an error if it is
    /// damaged.
    fn read_index(&mut self, found: &Found, index: &Index) -> Result<Result<Option<Sealed>, SegmentError>, StoreError> {
        let (segment, len) = (&found.segment, found.len);
        let mut tail = [0; Trailer::LEN];
        let Some(at) = len.checked_sub(tail.len() as u64) else { return Ok(Ok(None)) };
        segment.read(at, &mut tail)?;
        let trailer = match Trailer::parse(&tail, &segment.header, len) {
            Ok(Some(trailer)) => trailer,
            Ok(None) => return Ok(Ok(None)),
            Err(error) => return Ok(Err(error)),
        };
        // The trailer was already checked against the length of the file.
        let mut bytes = vec![0; segment.memory_len(trailer.index_len)?];
        segment.read(trailer.index_offset, &mut bytes)?;
        segment.end.store(trailer.index_offset, std::sync::atomic::Ordering::Relaxed);
        if let Some(expected) = found.expected.filter(|e| e.len != len || e.index_crc != trailer.index_crc) {
            return Ok(Err(SegmentError::Length {
                what: "the segment",
                offset: 0,
                expected: expected.len,
                found: len,
            }));
        }
        let taken = SegmentIndex::parse(&bytes, &trailer, &segment.header).and_then(|parsed| {
            let mut entries = parsed.entries();
            while let Some(entry) = entries.next()? {
                self.take(&entry, index);
            }
            Ok(Some(Sealed { len, index_crc: trailer.index_crc }))
        });
        if taken.is_err() {
            self.forget();
        }
        Ok(taken)
    }

    /// Reads all records of a segment.
    fn scan(&mut self, found: &Found, tail: Tail, on_damage: OnDamage, index: &Index) -> Result<(), StoreError> {
        let segment = Arc::clone(&found.segment);
        let len = segment.memory_len(found.len)?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(len).is_err() {
            let what = format!("its {len} bytes do not fit in memory");
            return Err(StoreError::Damaged { segment: segment.name(), offset: 0, id: None, what });
        }
        bytes.resize(len, 0);
        segment.read(0, &mut bytes)?;
        let scan = Scan::of(&segment, &bytes, tail, on_damage)?;
        segment.end.store(scan.end, std::sync::atomic::Ordering::Relaxed);
        self.scanned = !(tail == Tail::Open && scan.records.is_empty() && scan.torn_bytes == 0);
        for record in &scan.records {
            self.take(&record.entry(), index);
        }
        self.torn_bytes = scan.torn_bytes;
        self.torn_records = scan.torn_records;
        let damaged = !self.damages.is_empty() || !scan.damages.is_empty();
        self.damages.extend(scan.damages);
        match tail {
            Tail::Open => self.open = Some(scan.builder),
            Tail::Sealed => {
                if !damaged && !is_all(&scan.builder, &segment, &bytes, scan.end) {
                    let (what, offset) = ("the data after the last complete record", scan.end);
                    self.damage(scan.end, &SegmentError::Value { what, offset }, on_damage)?;
                }
                let index_crc = found.expected.map_or(0, |expected| expected.index_crc);
                let _ = segment.sealed.set(Sealed { len: found.len, index_crc }); // cannot fail: a segment is loaded once
            }
        }
        Ok(())
    }

    /// Returns damage as an error, or adds it to the report.
    fn damage(&mut self, offset: u64, error: &SegmentError, on_damage: OnDamage) -> Result<(), StoreError> {
        if on_damage == OnDamage::Refuse {
            return Err(self.segment.damaged(offset, None, error));
        }
        self.damages.push(Damage { segment: self.segment.name(), offset, id: None, what: error.to_string() });
        Ok(())
    }

    /// Adds the change of one index entry.
    fn take(&mut self, entry: &Entry<'_>, index: &Index) {
        self.last_sequence = self.last_sequence.max(entry.sequence);
        let place = Place {
            segment: Arc::clone(&self.segment),
            offset: entry.offset,
            len: entry.length,
            sequence: entry.sequence,
        };
        let Some(id) = entry.id else {
            if entry.kind == EntryKind::Usage {
                self.uses.push(place);
            }
            return;
        };
        let key = Key::of(id);
        let hash = index.hash(&key);
        let change = match entry.kind {
            EntryKind::Tensor => {
                if let Some(base) = entry.needs {
                    self.needs.push((key.clone(), TensorId::from(base).key()));
                }
                let traits = Traits {
                    tier: Tier::of_code(entry.tier).unwrap_or(Tier::Absent),
                    pinned: entry.pinned.and_then(Tier::of_code),
                    reconstructable: entry.needs.is_some(),
                    temporal: entry.form == Form::Frames,
                    max_error: entry.max_error,
                };
                Change::Tensor { key, place, changed_at: entry.time, traits, facts: None }
            }
            EntryKind::Frame(index) => {
                let tier = Tier::of_code(entry.tier).unwrap_or(Tier::Hot);
                Change::Frame { key, place, index, tier, rewritten: entry.rewritten }
            }
            EntryKind::Delete => {
                self.deleted.push((key.clone(), entry.sequence));
                Change::Delete { key }
            }
            EntryKind::Usage | EntryKind::Hole => return,
        };
        self.changes[Index::shard_of(hash)].push((hash, change));
    }

    fn forget(&mut self) {
        self.changes.iter_mut().for_each(Vec::clear);
        self.uses.clear();
        self.deleted.clear();
        self.needs.clear();
    }
}

/// Returns whether the records of a sealed segment, which end at `end`, are complete: a truncated segment has neither
/// the index nor the trailer that match its records.
fn is_all(builder: &IndexBuilder, segment: &Segment, bytes: &[u8], end: u64) -> bool {
    let rest = usize::try_from(end).ok().and_then(|end| bytes.get(end..)).unwrap_or_default();
    let expected = builder.finish(&segment.header);
    let Some(index) = expected.len().checked_sub(Trailer::LEN).filter(|_| rest.len() == expected.len()) else {
        return false;
    };
    // Any one of three separate parts suffices: a non-empty index, its location, or the magic number.
    let same = |part: Range<usize>| !part.is_empty() && rest[part.clone()] == expected[part];
    same(0..index) || same(index..index + 24) || same(index + 24..expected.len())
}
