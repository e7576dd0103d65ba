//! The same tensors with fewer bits.

use std::collections::HashSet;

use bitgrain_formats::segment::{Content, Encoding, TensorHead};
use rayon::prelude::*;

use super::Core;
use super::lookup::{Found, is_unchanged};
use super::reader::decode;
use super::tier_encoder::{Coded, TierEncoder, add_errors};
use crate::id::Key;
use crate::log::{Purpose, Record};
use crate::{StoreError, TensorId, Tier, record};

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
        let mut buffers = vec![Vec::new(); tensors.len()];
        let recoded = tensors.par_iter().zip(&mut buffers).map(|(tensor, buffer)| self.recode(tensor, buffer));
        let recoded = recoded.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<Key> = tensors.iter().map(|t| t.id.key()).collect();
        let _held = self.hold(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
        // Held until the links are changed: what is dropped elsewhere meanwhile could make a chain too long.
        let _linking = tensors.iter().any(|tensor| tensor.tier == Tier::Absent).then(|| self.linking());
        let mut dropped = HashSet::new();
        let (mut outcomes, mut records) = (Vec::new(), Vec::new());
        for ((tensor, key), recoded) in tensors.iter().zip(&keys).zip(recoded) {
            let unchanged = |recoded: &Recoded<'_>| is_unchanged(self.find(key).as_ref(), Some(&recoded.seen));
            let Some(recoded) = recoded.filter(|r| unchanged(r) && self.may_go(tensor, r, &dropped)) else {
                outcomes.push(Outcome::Skipped);
                continue;
            };
            if tensor.tier == Tier::Absent {
                dropped.insert(tensor.id.clone());
            }
            outcomes.push(Outcome::Done { before: recoded.seen.place.len, after: 0 });
            records.push(recoded.into_record(&tensor.id, now));
        }
        self.commit_for(&mut records, self.now(), purpose)?;
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
    fn may_go(&self, tensor: &Retier, recoded: &Recoded<'_>, dropped: &HashSet<TensorId>) -> bool {
        let reconstructable = recoded.seen.traits.reconstructable;
        tensor.tier != Tier::Absent || self.links().may_drop(self, &tensor.id, reconstructable, dropped)
    }

    /// Decodes and encodes a tensor. None if it has no data to encode, or its limits do not allow the tier.
    fn recode<'b>(&self, tensor: &Retier, buffer: &'b mut Vec<u8>) -> Result<Option<Recoded<'b>>, StoreError> {
        let Retier { id, tier } = tensor;
        let Some(seen) = self.find(&id.key()) else { return Ok(None) };
        // The plan may be older than a pin, or than the loss of a reconstruction policy.
        let evicts = *tier == Tier::Absent;
        if seen.traits.pinned.is_some_and(|pin| *tier > pin)
            || evicts && !self.config.policy.absent.allows(seen.traits.reconstructable)
        {
            return Ok(None);
        }
        let record::Whole { view, body } = record::copy(&seen.place, Some(id), buffer)?;
        let head = record::into_tensor_head(view, &seen.place, id)?;
        if matches!(head.encoding, Encoding::Absent | Encoding::Frames) || Some(*tier) == Tier::of_code(head.tier) {
            return Ok(None);
        }
        let parts = head.parts().ok_or_else(|| StoreError::ShapeOverflow { shape: head.shape.clone() })?;
        let mut values = vec![0.0; head.count()];
        if *tier != Tier::Absent {
            decode(head.encoding, body, &mut values, &seen.place, id)?;
        }
        let coding = TierEncoder { block: self.config.block_len, two_level: self.config.two_level };
        let mut coded = coding.encode(*tier, &values, &body[parts.data.end..])?;
        coded.accuracy = add_errors(head.accuracy, coded.accuracy);
        if head.max_error.is_some_and(|limit| coded.accuracy.bound() > limit || *tier == Tier::Absent) {
            return Ok(None);
        }
        Ok(Some(Recoded { seen, head, coded }))
    }
}

/// A tensor that was encoded anew.
struct Recoded<'b> {
    seen: Found,
    /// Head of the old record.
    head: TensorHead<'b>,
    coded: Coded,
}

impl<'b> Recoded<'b> {
    fn into_record(self, id: &'b TensorId, now: u64) -> Record<'b> {
        let Coded { tier, encoding, accuracy, draft } = self.coded;
        let head = TensorHead { tier: tier.code(), encoding, accuracy, ..self.head };
        Record { draft, content: Content::Tensor(id.as_id(), head), time: now }
    }
}
