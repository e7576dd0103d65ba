//! Setting of reconstruction policies.

use bitgrain_codec::{BitWidth, BlockFormat, EncodeOptions};
use bitgrain_formats::segment::{Accuracy, Content, Encoding, Reconstruct, TensorHead};

use super::edit::Edit;
use super::frame_runs::FrameRun;
use super::limits::{check_shape, elements};
use super::lookup::{Found, is_unchanged};
use super::put::Kept;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::reconstruct::{DeltaValues, Factor, Reconstruction, delta_between};
use crate::{StoreError, TensorId, Tier, blocks};

impl TensorStore {
    /// Puts a tensor without data; reads reconstruct it from its base.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`] if the base does not exist; [`StoreError::ReconstructionCycle`] or
    /// [`StoreError::ReconstructionDepthExceeded`]; [`StoreError::ShapeMismatch`] and the errors of factors if the
    /// policy does not match the base; [`StoreError::Temporal`] if the base has frames; [`StoreError::HasDependents`]
    /// if other tensors are reconstructed from the one to replace; and the errors of [`put`](Self::put).
    pub fn put_absent(
        &self,
        id: impl Into<TensorId>,
        shape: &[usize],
        reconstruct: &Reconstruction,
    ) -> Result<(), StoreError> {
        let (id, core) = (id.into(), &self.core);
        id.check()?;
        check_shape(shape, elements(shape)?)?;
        core.log()?.check()?;
        let (key, base) = (id.key(), reconstruct.base());
        loop {
            let (seen, there) = (core.find(&key), core.found(base, &base.key())?);
            let prepared = core.prepare(shape, false, reconstruct, &there)?;
            let kept = seen.as_ref().map(|found| Kept::read(found, &id)).transpose()?.unwrap_or_default();
            let _held = core.lock_tensors(&[&key, &base.key()]);
            let _linking = core.linking();
            let unchanged = |key: &[u8], seen: Option<&Found>| is_unchanged(core.find(key).as_ref(), seen);
            if !unchanged(&key, seen.as_ref()) || !unchanged(&base.key(), Some(&there)) {
                continue;
            }
            core.links().check_free(&id)?;
            core.links().check(core, &id, base, true)?;
            let now = core.now();
            let head = TensorHead {
                shape: shape.to_vec(),
                tier: Tier::Absent.code(),
                encoding: Encoding::Absent,
                accuracy: Accuracy::EXACT,
                created: kept.created.unwrap_or(now),
                updated: now,
                pinned: None,
                max_error: None,
                user: kept.user.iter().map(|(key, value)| (&**key, &**value)).collect(),
                reconstruct: Some(prepared.policy(base)),
            };
            core.commit(&mut [Record::new(&prepared.bytes, Content::Tensor(id.as_id(), head), now)], now)?;
            core.touch_written(&key, seen.is_some(), now);
            return Ok(());
        }
    }

    /// Sets the reconstruction used when the policy evicts the tensor's data; `None` removes it. A `put` also removes
    /// it.
    ///
    /// Each frame of a temporal tensor is reconstructed from the frame of the base with the same index, or from a base
    /// without frames. A delta of values ([`DeltaValues::Delta`]) is added to every frame. Frames that the base does not
    /// have yet keep their data.
    ///
    /// # Errors
    /// Returns the errors of [`put_absent`](Self::put_absent); [`StoreError::TierZeroNoPolicy`] if the tensor or one of its
    /// frames has no data and would lose its policy; [`StoreError::BaseTooShort`] if it would lose its base; and
    /// [`StoreError::FramesNeedDelta`] for [`DeltaValues::Wanted`] on a temporal tensor.
    pub fn attach(&self, id: impl Into<TensorId>, reconstruct: Option<&Reconstruction>) -> Result<(), StoreError> {
        let (id, core) = (id.into(), &self.core);
        core.log()?.check()?;
        let Some(reconstruct) = reconstruct else {
            return core.edit_if(&id, &Edit::Reconstruct(None), None, || match core.lacks_data(&id)? {
                true => Err(StoreError::TierZeroNoPolicy { id: id.clone() }),
                false => Ok(true),
            });
        };
        let base = reconstruct.base();
        loop {
            let there = core.found(base, &base.key())?;
            let found = core.found(&id, &id.key())?;
            let shape = core.reader().shape(&found, &id)?;
            let temporal = found.traits.temporal;
            if temporal && matches!(reconstruct, Reconstruction::Delta { values: DeltaValues::Wanted(_), .. }) {
                return Err(StoreError::FramesNeedDelta { id, base: base.clone() });
            }
            let prepared = core.prepare(&shape, temporal, reconstruct, &there)?;
            let edit = Edit::Reconstruct(Some((prepared.policy(base), &prepared.bytes)));
            let changed = std::cell::Cell::new(false);
            core.edit_if(&id, &edit, Some(base), || {
                // `edit_if` holds the lock on links, which is taken after the locks of tensors and kept until the links
                // are updated.
                let now = core.found(&id, &id.key())?.traits;
                if now.temporal != temporal || !is_unchanged(core.find(&base.key()).as_ref(), Some(&there)) {
                    changed.set(true);
                    return Ok(false);
                }
                // A temporal tensor counts as absent, because each of its frames may be evicted.
                let absent = now.temporal || now.tier == Tier::Absent;
                core.links().check(core, &id, base, absent)?;
                if core.lacks_frames(&id, &there)? {
                    return Err(StoreError::BaseTooShort { id: id.clone(), base: base.clone() });
                }
                Ok(true)
            })?;
            if !changed.get() {
                return Ok(());
            }
        }
    }
}

/// An encoded reconstruction policy.
pub(super) struct Prepared {
    kind: Kind,
    /// Payload, as bytes of the body.
    pub(super) bytes: Vec<u8>,
}

enum Kind {
    Delta(BlockFormat),
    Factor { scale: f32, permutation: Option<usize>, projection: Option<(usize, usize)> },
}

impl Prepared {
    fn policy<'i>(&self, base: &'i TensorId) -> Reconstruct<'i> {
        let base = base.as_id();
        match self.kind {
            Kind::Delta(format) => Reconstruct::Delta { base, format },
            Kind::Factor { scale, permutation, projection } => {
                Reconstruct::Factor { source: base, scale, permutation, projection }
            }
        }
    }
}

impl Core {
    /// Returns whether a tensor, or one of its frames, has no data.
    pub(super) fn lacks_data(&self, id: &TensorId) -> Result<bool, StoreError> {
        let found = self.found(id, &id.key())?;
        if !found.traits.temporal {
            return Ok(found.traits.tier == Tier::Absent);
        }
        Ok(self.frame_runs(&id.key(), &found)?.iter().any(|run| run.tier == Tier::Absent))
    }

    /// Returns whether a frame of `id` has no data, and `base` does not have that frame either.
    fn lacks_frames(&self, id: &TensorId, base: &Found) -> Result<bool, StoreError> {
        let (found, Some(frames)) = (self.found(id, &id.key())?, &base.frames) else { return Ok(false) };
        if !found.traits.temporal {
            return Ok(false);
        }
        let absent = |run: &FrameRun| run.tier == Tier::Absent && run.frames.end > frames.len() as u64;
        Ok(self.frame_runs(&id.key(), &found)?.iter().any(absent))
    }

    /// Checks that a policy matches its base and the shape of the result, and encodes it.
    fn prepare(
        &self,
        shape: &[usize],
        temporal: bool,
        reconstruct: &Reconstruction,
        found: &Found,
    ) -> Result<Prepared, StoreError> {
        let base = reconstruct.base();
        if found.traits.temporal && !temporal {
            return Err(StoreError::Temporal { id: base.clone() });
        }
        match reconstruct {
            Reconstruction::Delta { values, .. } => {
                let (wanted, expected) = (elements(shape)?, elements(&self.reader().shape(found, base)?)?);
                if wanted != expected {
                    return Err(StoreError::ShapeMismatch { expected, got: wanted });
                }
                let delta = match values {
                    DeltaValues::Delta(delta) => delta.clone(),
                    DeltaValues::Wanted(wanted) => {
                        delta_between(wanted, &self.reader().get(found, base)?.values)?.values
                    }
                };
                if delta.len() != expected {
                    return Err(StoreError::ShapeMismatch { expected, got: delta.len() });
                }
                let format = BlockFormat::new(BitWidth::W8).with_block_len(self.config.block_len);
                let mut bytes = vec![0; format.encoded_len(delta.len())];
                blocks::encode(format, &delta, &EncodeOptions::default(), &mut bytes)?;
                Ok(Prepared { kind: Kind::Delta(format), bytes })
            }
            Reconstruction::Factor { factor, .. } => {
                let result = factor.shape(&self.reader().shape(found, base)?)?;
                if result != shape {
                    return Err(StoreError::ShapeMismatch { expected: elements(&result)?, got: elements(shape)? });
                }
                Ok(encode_factor(factor))
            }
        }
    }
}

fn encode_factor(factor: &Factor) -> Prepared {
    let mut bytes = Vec::new();
    for row in factor.permutation.iter().flatten() {
        bytes.extend_from_slice(&row.to_le_bytes());
    }
    for value in factor.projection.iter().flat_map(|projection| projection.values()) {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    let projection = factor.projection.as_ref().map(|p| (p.rows(), p.columns()));
    let permutation = factor.permutation.as_ref().map(Vec::len);
    Prepared { kind: Kind::Factor { scale: factor.scale, permutation, projection }, bytes }
}
