//! Re-encoding of tensors with fewer bits.

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

/// A tensor to re-encode.
#[derive(Debug, Clone)]
pub(super) struct Retier {
    pub(super) id: TensorId,
    pub(super) tier: Tier,
}

/// Result of re-encoding a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Re-encoded; sizes in bytes before and after.
    Done { before: u64, after: u64 },
    /// Skipped: another writer changed or deleted it since the plan, or its limits do not allow the tier.
    Skipped,
}

impl Core {
    /// Re-encodes tensors as of `now` and replaces all of them atomically. The stored values are decoded and encoded
    /// again, so error bounds add up; reconstruction policies are kept.
    pub(super) fn retier(&self, tensors: &[Retier], now: u64, purpose: Purpose) -> Result<Vec<Outcome>, StoreError> {
        self.log()?.check()?;
        // Encoded in parallel, without locks.
        let mut buffers = vec![Vec::new(); tensors.len()];
        let recoded = tensors.par_iter().zip(&mut buffers).map(|(tensor, buffer)| self.recode(tensor, buffer));
        let recoded = recoded.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<Key> = tensors.iter().map(|t| t.id.key()).collect();
        let _held = self.lock_tensors(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
        // Held until the links are updated: concurrent evictions could otherwise make a chain too long.
        let _linking = tensors.iter().any(|tensor| tensor.tier == Tier::Absent).then(|| self.linking());
        let mut dropped = HashSet::new();
        let (mut outcomes, mut records) = (Vec::new(), Vec::new());
        for ((tensor, key), recoded) in tensors.iter().zip(&keys).zip(recoded) {
            let unchanged = |recoded: &Recoded<'_>| is_unchanged(self.find(key).as_ref(), Some(&recoded.seen));
            let Some(recoded) = recoded.filter(|r| unchanged(r) && self.may_evict(tensor, r, &dropped)) else {
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
                // Usage can no longer be derived from the time of the record.
                self.index.touch(
                    key,
                    |_| {},
                    |entry| {
                        *after = entry.place.len;
                        // The next put of an evicted tensor needs a tier with data.
                        entry.want(if tensor.tier == Tier::Absent { Tier::Cold } else { tensor.tier });
                    },
                );
            }
        }
        Ok(outcomes)
    }

    /// Returns whether the data can be evicted together with that of `dropped` without breaking a dependent.
    fn may_evict(&self, tensor: &Retier, recoded: &Recoded<'_>, dropped: &HashSet<TensorId>) -> bool {
        let reconstructable = recoded.seen.traits.reconstructable;
        tensor.tier != Tier::Absent || self.links().may_drop(self, &tensor.id, reconstructable, dropped)
    }

    /// Decodes and re-encodes a tensor. Returns `None` if it has no data or its limits do not allow the tier.
    fn recode<'b>(&self, tensor: &Retier, buffer: &'b mut Vec<u8>) -> Result<Option<Recoded<'b>>, StoreError> {
        let Retier { id, tier } = tensor;
        let Some(seen) = self.find(&id.key()) else { return Ok(None) };
        // A pin may have been set, or the reconstruction policy removed, since the plan was made.
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

/// A re-encoded tensor.
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
