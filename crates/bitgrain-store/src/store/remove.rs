//! Deletion of tensors.

use bitgrain_formats::segment::{Accuracy, Content, Draft, TensorHead};

use super::lookup::{Found, is_unchanged};
use super::tier_encoder::{TierEncoder, add_errors};
use super::{Core, TensorStore};
use crate::id::Key;
use crate::log::Record;
use crate::{StoreError, TensorId, Tier, record};

/// Handling of tensors that are reconstructed from a deleted one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dependents {
    /// Do not delete; fail with [`StoreError::HasDependents`].
    #[default]
    Refuse,
    /// Reconstruct dependents without data and store the result at 8 bits. Their reconstruction policies are removed.
    Materialize,
}

impl TensorStore {
    /// Deletes a tensor and its metadata.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`], [`StoreError::HasDependents`], [`StoreError::ReadOnly`],
    /// [`StoreError::Poisoned`], [`StoreError::NoSpace`] or [`StoreError::Io`], and the errors of reconstructing
    /// dependents.
    pub fn delete(&self, id: impl Into<TensorId>, dependents: Dependents) -> Result<(), StoreError> {
        let (id, core) = (id.into(), &self.core);
        core.log()?.check()?;
        loop {
            let needing = core.links().of(&id);
            if dependents == Dependents::Refuse {
                core.links().check_free(&id)?;
            }
            let mut buffers: Vec<Vec<u8>> = needing.iter().map(|_| Vec::new()).collect();
            let mut freed = Vec::new();
            for (id, buffer) in needing.iter().zip(&mut buffers) {
                freed.push(core.detach(id, buffer)?);
            }
            let keys: Vec<Key> = needing.iter().chain([&id]).map(TensorId::key).collect();
            let _held = core.lock_tensors(&keys.iter().map(|key| &**key).collect::<Vec<_>>());
            core.found(&id, &id.key())?;
            let unchanged =
                keys.iter().zip(&freed).all(|(key, freed)| is_unchanged(core.find(key).as_ref(), Some(&freed.seen)));
            if core.links().of(&id) != needing || !unchanged {
                continue; // another writer was faster; retry
            }
            let mut records: Vec<Record<'_>> = freed.into_iter().flat_map(|freed| freed.records).collect();
            let now = core.now();
            records.push(delete_record(&id, now));
            return core.commit(&mut records, now);
        }
    }
}

/// Returns the record of a deletion.
pub(super) fn delete_record(id: &TensorId, now: u64) -> Record<'_> {
    Record::new(&[], Content::Delete(id.as_id()), now)
}

/// A tensor detached from its base.
struct Freed<'a> {
    seen: Found,
    /// Record of the tensor, and of its frames that had no data.
    records: Vec<Record<'a>>,
}

impl Core {
    /// Prepares a record of the tensor with data and without a reconstruction policy.
    fn detach<'a>(&self, id: &'a TensorId, buffer: &'a mut Vec<u8>) -> Result<Freed<'a>, StoreError> {
        let seen = self.found(id, &id.key())?;
        let frames = if seen.traits.temporal { self.materialize_frames(&seen, id)? } else { Vec::new() };
        let rebuilt = if seen.traits.tier == Tier::Absent { Some(self.reader().get(&seen, id)?) } else { None };
        let whole = record::copy(&seen.place, Some(id), buffer)?;
        let head = record::tensor_head(&whole.view, &seen.place, id)?.clone();
        let (head, draft, time) = match rebuilt {
            Some(tensor) => {
                let coding = TierEncoder { block: self.config.block_len, two_level: self.config.two_level };
                let coded = coding.encode(Tier::Hot, &tensor.values, &[])?;
                let (bound, measured) = (tensor.provenance.bound, tensor.provenance.measured);
                let accuracy = add_errors(Accuracy::new(bound, measured), coded.accuracy);
                let tier = coded.tier.code();
                (TensorHead { tier, encoding: coded.encoding, accuracy, ..head }, coded.draft, self.now())
            }
            None => {
                let data = head.parts().map_or(0, |parts| parts.data.end);
                let mut draft = Draft::new(data);
                draft.body_mut().copy_from_slice(&whole.body[..data]);
                draft.checksum();
                (head, draft, whole.view.head.stamp.time)
            }
        };
        let head = TensorHead { reconstruct: None, ..head };
        let mut records = vec![Record { draft, content: Content::Tensor(id.as_id(), head), time }];
        records.extend(frames);
        Ok(Freed { seen, records })
    }
}
