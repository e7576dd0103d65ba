//! The same tensors with fewer bits.

use std::collections::HashSet;

use bitgrain_formats::segment::{Content, Encoding, TensorHead};
use rayon::prelude::*;

use super::Core;
use super::encode::{Coded, Coding, summed};
use super::put::same;
use super::reader::decode_data;
use super::view::Found;
use crate::id::Key;
use crate::log::{Purpose, Record};
use crate::{StoreError, TensorId, Tier, read};

/// A tensor to be encoded anew.
#[derive(Debug, Clone)]
pub(super) struct Retier {
    pub(super) id: TensorId,
    pub(super) tier: Tier,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is at the tier, with as many bytes as before and now.
    Done { before: u64, after: u64 },
    /// Another writer changed or deleted it since the plan, or its limits do not allow it.
    Skipped,
}

impl Core {
    /// Encodes tensors anew, as of `now`, and swaps all of them at once. What they are now is decoded and encoded again, so the bounds
    /// add up; the reconstruction policies stay.
    pub(super) fn retier(&self, tensors: &[Retier], now: u64, purpose: Purpose) -> Result<Vec<Outcome>, StoreError> {
        self.log()?.check()?;
        // Encoded without a lock, on every core.
        let recoded: Vec<Result<Option<Recoded>, StoreError>> = tensors.par_iter().map(|t| self.recode(t)).collect();
        let mut recoded = recoded.into_iter().collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<Key> = tensors.iter().map(|t| t.id.key()).collect();
        let _held = self.hold(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
        // Held until the links are changed: what is dropped elsewhere meanwhile could make a chain too long.
        let _linking = tensors.iter().any(|tensor| tensor.tier == Tier::Absent).then(|| self.linking());
        let mut dropped = HashSet::new();
        let (mut outcomes, mut records) = (Vec::new(), Vec::new());
        for ((tensor, key), recoded) in tensors.iter().zip(&keys).zip(&mut recoded) {
            let current = self.find(key);
            let good = recoded
                .as_ref()
                .is_some_and(|r| same(current.as_ref(), Some(&r.seen)) && self.may_go(tensor, r, &dropped));
            let Some(recoded) = recoded.as_mut().filter(|_| good) else {
                outcomes.push(Outcome::Skipped);
                continue;
            };
            if tensor.tier == Tier::Absent {
                dropped.insert(tensor.id.clone());
            }
            outcomes.push(Outcome::Done { before: recoded.seen.place.len, after: 0 });
            records.push(recoded.record(&tensor.id, now)?);
        }
        self.commit_for(&mut records, purpose)?;
        for ((outcome, key), tensor) in outcomes.iter_mut().zip(&keys).zip(tensors) {
            if let Outcome::Done { after, .. } = outcome {
                // Its use no longer follows from the time of its record.
                self.index.touch(
                    key,
                    |_| {},
                    |entry| {
                        *after = entry.place.len;
                        // A tensor without data comes back with more than none.
                        entry.want(if tensor.tier == Tier::Absent { Tier::Cold } else { tensor.tier });
                    },
                );
            }
        }
        Ok(outcomes)
    }

    /// Whether data may go for good, as far as others need it, when that of `dropped` goes as well.
    fn may_go(&self, tensor: &Retier, recoded: &Recoded, dropped: &HashSet<TensorId>) -> bool {
        let reconstructable = recoded.seen.traits.reconstructable;
        tensor.tier != Tier::Absent || self.links().may_drop(self, &tensor.id, reconstructable, dropped)
    }

    /// Decodes and encodes a tensor. None if it has no data to encode, or its limits do not allow the tier.
    fn recode(&self, tensor: &Retier) -> Result<Option<Recoded>, StoreError> {
        let Retier { id, tier } = tensor;
        let Some(seen) = self.find(&id.key()) else { return Ok(None) };
        // The plan may be older than a pin, or than the loss of a reconstruction policy.
        let evicts = *tier == Tier::Absent;
        if seen.traits.pinned.is_some_and(|pin| *tier > pin)
            || evicts && !self.config.policy.absent.allows(seen.traits.reconstructable)
        {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        let whole = read::copied_record(&seen.place, Some(id), &mut buffer)?;
        let head = read::tensor_of(&whole.view, &seen.place, id)?;
        if matches!(head.encoding, Encoding::Absent | Encoding::Frames) || Some(*tier) == Tier::of_code(head.tier) {
            return Ok(None);
        }
        let parts = head.parts().ok_or_else(|| StoreError::ShapeOverflow { shape: head.shape.clone() })?;
        let mut values = vec![0.0; head.count()];
        if *tier != Tier::Absent {
            decode_data(head, whole.body, &mut values, &seen.place, id)?;
        }
        let coding = Coding { block: self.config.block_len, two_level: self.config.two_level };
        let mut coded = coding.encode(*tier, &values, &whole.body[parts.data.end..])?;
        coded.accuracy = summed(head.accuracy, coded.accuracy);
        if head.max_error.is_some_and(|limit| coded.accuracy.bound() > limit || *tier == Tier::Absent) {
            return Ok(None);
        }
        drop(whole);
        Ok(Some(Recoded { seen, coded: Some(coded), buffer }))
    }
}

/// A tensor that was encoded anew.
struct Recoded {
    seen: Found,
    coded: Option<Coded>,
    /// The old record.
    buffer: Vec<u8>,
}

impl Recoded {
    fn record<'r>(&'r mut self, id: &'r TensorId, now: u64) -> Result<Record<'r>, StoreError> {
        let place = &self.seen.place;
        let parsed = bitgrain_formats::segment::RecordView::parse(&self.buffer, place.offset, &place.segment.header);
        let view = parsed.map_err(|error| place.segment.damaged(place.offset, Some(id), &error))?;
        let old = read::tensor_of(&view, place, id)?.clone();
        let Some(coded) = self.coded.take() else { return Err(StoreError::NotFound { id: id.clone() }) };
        let head = TensorHead { tier: coded.tier.code(), encoding: coded.encoding, accuracy: coded.accuracy, ..old };
        Ok(Record { draft: coded.draft, content: Content::Tensor(id.as_id(), head), time: now })
    }
}
