//! Commit of records: append, wait for durability, then update the index.

use std::sync::Arc;

use bitgrain_formats::segment::{Content, Encoding, TensorHead};
use smallvec::SmallVec;

use super::Core;
use crate::id::Key;
use crate::index::{Change, Traits};
use crate::log::{Purpose, Record};
use crate::segment::Place;
use crate::{StoreError, TensorId, Tier};

impl Core {
    /// Appends records as one batch, waits until they can be acknowledged, and applies them to the index. The caller
    /// holds the locks of all tensors involved.
    pub(super) fn commit(&self, records: &mut [Record<'_>], now: u64) -> Result<(), StoreError> {
        self.commit_for(records, now, Purpose::Grow)
    }

    /// Like [`commit`](Self::commit), where `purpose` decides whether the space reserved for compaction may be used.
    pub(super) fn commit_for(&self, records: &mut [Record<'_>], now: u64, purpose: Purpose) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let log = self.log()?;
        let places = log.append(records, now, purpose)?;
        if let Some(last) = places.last() {
            log.acknowledge(last)?;
        }
        let segment = places.first().map(|place| Arc::clone(&place.segment));
        let changes = records.iter().zip(places).filter_map(|(record, place)| change_of(record, place));
        self.index.apply(changes.collect::<SmallVec<[_; 1]>>());
        segment.iter().for_each(|segment| segment.finish(records.len()));
        self.set_links(records);
        Ok(())
    }

    /// Updates the reconstruction links of the tensors in these records, and forgets reads of frames that they replace.
    fn set_links(&self, records: &[Record<'_>]) {
        let mut links = self.links();
        for record in records {
            let replaces_frames = match &record.content {
                Content::Tensor(_, head) => head.encoding != Encoding::Frames,
                Content::Delete(_) => true,
                Content::Frame(..) | Content::Usage => false,
            };
            if let Some(id) = record.content.id().filter(|_| replaces_frames) {
                self.index.frame_uses.forget(&Key::of(id));
            }
            let (id, base) = match &record.content {
                Content::Tensor(id, head) => (id, head.reconstruct.map(|policy| policy.needs())),
                Content::Delete(id) => (id, None),
                Content::Frame(..) | Content::Usage => continue,
            };
            if base.is_some() || !links.is_empty() {
                links.set(&TensorId::from(*id), base.map(TensorId::from));
            }
        }
    }
}

/// Returns the change of the index for a record.
fn change_of(record: &Record<'_>, place: Place) -> Option<Change> {
    let id = record.content.id()?;
    let key = Key::of(id);
    Some(match &record.content {
        Content::Tensor(_, head) => {
            let facts = Some((head.count() as u64, head.accuracy.bound()));
            Change::Tensor { key, place, changed_at: record.time, traits: traits_of(head), facts }
        }
        Content::Frame(_, head) => {
            let tier = Tier::of_code(head.tier).unwrap_or(Tier::Hot);
            Change::Frame { key, place, index: head.index, tier, rewritten: head.rewritten }
        }
        Content::Delete(_) => Change::Delete { key },
        Content::Usage => return None,
    })
}

/// Returns the part of a tensor's head that the index keeps.
fn traits_of(head: &TensorHead<'_>) -> Traits {
    Traits {
        tier: Tier::of_code(head.tier).unwrap_or(Tier::Absent),
        pinned: head.pinned.and_then(Tier::of_code),
        reconstructable: head.reconstruct.is_some(),
        temporal: head.encoding == Encoding::Frames,
        max_error: head.max_error,
    }
}
