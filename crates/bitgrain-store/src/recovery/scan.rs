//! Full scan of a segment: complete records, the end of an interrupted write, and damage.

use bitgrain_formats::segment::{End, Entry, Head, IndexBuilder, RecordView, Records, SegmentHeader, find_record};

use super::Damage;
use crate::log::unwritable;
use crate::segment::Segment;
use crate::{OnDamage, StoreError, TensorId};

/// Possible content after the last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing, or an interrupted write.
    Open,
    /// A damaged index.
    Sealed,
}

/// Result of a scan.
pub(super) struct Scan<'a> {
    /// Records of complete batches.
    pub(super) records: Vec<Scanned<'a>>,
    /// Index of these records.
    pub(super) builder: IndexBuilder,
    /// End offset of these records.
    pub(super) end: u64,
    /// Bytes after the end, in an open segment.
    pub(super) torn_bytes: u64,
    /// Complete records among them.
    pub(super) torn_records: u64,
    pub(super) damages: Vec<Damage>,
}

/// A record found by a scan.
pub(super) struct Scanned<'a> {
    offset: u64,
    len: u64,
    head: Head<'a>,
}

impl<'a> Scan<'a> {
    /// Scans `bytes`, the content of a segment.
    pub(super) fn of(segment: &Segment, bytes: &'a [u8], tail: Tail, on_damage: OnDamage) -> Result<Self, StoreError> {
        let header = &segment.header;
        let start = SegmentHeader::LEN as u64;
        let mut scan = Self {
            records: Vec::new(),
            builder: IndexBuilder::new(header),
            end: start,
            torn_bytes: 0,
            torn_records: 0,
            damages: Vec::new(),
        };
        let mut batch = Vec::new();
        let mut from = start;
        loop {
            let mut records = Records::from(bytes, header, from);
            for (offset, view) in records.by_ref() {
                scan.push(&mut batch, offset, view)?;
            }
            let (offset, error) = match records.end() {
                End::Clean { .. } => break,
                End::Torn { offset, error } | End::Bad { offset, error } => (*offset, error),
            };
            // Records after a crash declare how much is durable; a bad record within that range is damage.
            let Some(next) = find_after_damage(bytes, header, offset, tail) else { break };
            if on_damage == OnDamage::Refuse {
                return Err(segment.damaged(offset, id_at(bytes, header, offset).as_ref(), error));
            }
            let id = id_at(bytes, header, offset);
            scan.damages.push(Damage { segment: segment.name(), offset, id, what: error.to_string() });
            batch.clear();
            from = next;
        }
        if tail == Tail::Open {
            scan.torn_bytes = (bytes.len() as u64).saturating_sub(scan.end);
            scan.torn_records = batch.len() as u64;
        }
        Ok(scan)
    }

    /// Adds a record; a batch takes effect with its last record.
    fn push(&mut self, batch: &mut Vec<Scanned<'a>>, offset: u64, view: RecordView<'a>) -> Result<(), StoreError> {
        let left = view.head.stamp.batch_left;
        if batch.last().is_some_and(|last| last.head.stamp.batch_left != left.wrapping_add(1)) {
            batch.clear(); // its last record was damaged
        }
        let len = view.total_len();
        batch.push(Scanned { offset, len, head: view.head });
        if left > 0 {
            return Ok(());
        }
        for record in batch.drain(..) {
            if let Some(hole) = record.offset.checked_sub(self.builder.end()).filter(|hole| *hole > 0) {
                self.builder.push_hole(hole);
            }
            self.builder.push(&record.head, record.len).map_err(unwritable)?;
            self.records.push(record);
        }
        self.end = self.builder.end();
        Ok(())
    }
}

/// Calls `take` with every complete record of a sealed segment with a damaged index, skipping damaged records. `bytes`
/// is the segment up to the end of its records.
pub(crate) fn for_each_record(
    segment: &Segment,
    bytes: &[u8],
    mut take: impl FnMut(&Entry<'_>),
) -> Result<(), StoreError> {
    let scan = Scan::of(segment, bytes, Tail::Sealed, OnDamage::Salvage)?;
    scan.records.iter().for_each(|record| take(&record.entry()));
    Ok(())
}

/// Returns the tensor of a record whose body is damaged; `None` if its head is.
fn id_at(bytes: &[u8], header: &SegmentHeader, offset: u64) -> Option<TensorId> {
    let record = usize::try_from(offset).ok().and_then(|at| bytes.get(at..))?;
    RecordView::parse(record, offset, header).ok()?.head.content.id().map(TensorId::from)
}

/// Returns the next good record after a bad one at `bad`, if the bad one is damaged rather than cut off by a crash.
fn find_after_damage(bytes: &[u8], header: &SegmentHeader, bad: u64, tail: Tail) -> Option<u64> {
    let first = find_record(bytes, header, bad + 1)?;
    if tail == Tail::Sealed {
        return Some(first); // sealed segments were durable as a whole
    }
    let mut at = Some(first);
    while let Some(offset) = at {
        let record = usize::try_from(offset).ok().and_then(|at| bytes.get(at..))?;
        let view = RecordView::parse(record, offset, header).ok()?;
        if view.head.stamp.pending.is_some_and(|pending| offset.saturating_sub(pending) > bad) {
            return Some(first);
        }
        at = find_record(bytes, header, offset + view.total_len());
    }
    None
}

impl Scanned<'_> {
    /// Returns the index entry of the record.
    pub(super) fn entry(&self) -> Entry<'_> {
        Entry::of(&self.head, self.offset, self.len)
    }
}
