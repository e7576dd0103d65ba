//! From records to the index: appended, durable, then seen.

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
    /// Appends records as one batch, waits until they may be acknowledged, and applies what they say to the index. The caller
    /// holds the locks of all tensors in them.
    pub(super) fn commit(&self, records: &mut [Record<'_>], now: u64) -> Result<(), StoreError> {
        self.commit_for(records, now, Purpose::Grow)
    }

    /// As [`commit`](Self::commit), for records that may use the room that is kept for compaction or not.
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

    /// Notes what the tensors of these records are reconstructed from now.
    fn set_links(&self, records: &[Record<'_>]) {
        let mut links = self.links();
        for record in records {
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

/// What a record changes in the index.
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
            Change::Frame { key, place, index: head.index, tier }
        }
        Content::Delete(_) => Change::Delete { key },
        Content::Usage => return None,
    })
}

/// What the index keeps of a tensor's head.
fn traits_of(head: &TensorHead<'_>) -> Traits {
    Traits {
        tier: Tier::of_code(head.tier).unwrap_or(Tier::Absent),
        pinned: head.pinned.and_then(Tier::of_code),
        reconstructable: head.reconstruct.is_some(),
        temporal: head.encoding == Encoding::Frames,
        max_error: head.max_error,
    }
}
