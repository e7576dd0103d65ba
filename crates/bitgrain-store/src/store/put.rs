//! Putting of tensors.

use std::borrow::Cow;

use bitgrain_codec::NonFinite;
use bitgrain_formats::segment::{Content, TensorHead};

use super::draft_pool;
use super::limits::{check_max_error, check_shape, check_user};
use super::lookup::{Found, is_unchanged};
use super::tier_encoder::{Coded, TierEncoder, provenance};
use super::{Core, PutOptions, TensorStore};
use crate::id::Key;
use crate::log::Record;
use crate::{Provenance, StoreError, TensorId, Tier, blocks, record};

impl TensorStore {
    /// Puts a tensor, replacing any tensor with this id. Returns the error of the encoding.
    ///
    /// It is encoded at its pin, or else at the first tier of the policy (8 bits), regardless of use; with more bits if
    /// the last tick wanted them, and lossless if the tensor was lossless. The id keeps its pin, error limit and user
    /// metadata. Axes of length 0 are allowed.
    ///
    /// # Errors
    /// Returns [`StoreError::IdEmpty`], [`StoreError::IdTooLong`]; [`StoreError::ShapeMismatch`],
    /// [`StoreError::ShapeOverflow`], [`StoreError::TooManyAxes`]; [`StoreError::NonFinite`];
    /// [`StoreError::BoundExceeded`]; [`StoreError::HasDependents`] if other tensors are reconstructed from the one to
    /// replace; [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`],
    /// [`StoreError::LittleSpace`] or [`StoreError::Io`].
    pub fn put(&self, id: impl Into<TensorId>, shape: &[usize], values: &[f32]) -> Result<Provenance, StoreError> {
        self.put_with(id, shape, values, &PutOptions::default())
    }

    /// Like [`put`](Self::put), with options.
    ///
    /// # Errors
    /// Returns the errors of [`put`](Self::put), and [`StoreError::HasFrames`] if the id has frames and they are to be
    /// kept.
    pub fn put_with(
        &self,
        id: impl Into<TensorId>,
        shape: &[usize],
        values: &[f32],
        options: &PutOptions,
    ) -> Result<Provenance, StoreError> {
        let id = id.into();
        let core = &self.core;
        core.log()?.check()?;
        let mut put = Put::new(core, &id, shape, values, options)?;
        loop {
            // Encoded without a lock; retries if another writer changed the entry, because its tier may differ.
            let seen = core.find(&put.key);
            put.encode(core, seen.as_ref())?;
            let _held = core.lock_tensor(&put.key);
            if !is_unchanged(core.find(&put.key).as_ref(), seen.as_ref()) {
                continue;
            }
            core.links().check_free(&id)?;
            check_frames(options, &id, seen.as_ref())?;
            let now = core.now();
            let cost = put.commit(core, seen.as_ref(), now)?;
            core.touch_written(&put.key, seen.is_some(), now);
            return Ok(cost);
        }
    }
}

/// A tensor being put.
pub(super) struct Put<'a> {
    pub(super) id: &'a TensorId,
    pub(super) key: Key,
    shape: &'a [usize],
    values: Cow<'a, [f32]>,
    options: &'a PutOptions,
    coded: Option<Coded>,
    /// Metadata kept from the replaced tensor.
    kept: Kept,
}

/// Metadata that a `put` keeps from the replaced tensor.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) created: Option<u64>,
    pub(super) user: Vec<(String, String)>,
}

impl<'a> Put<'a> {
    pub(super) fn new(
        core: &Core,
        id: &'a TensorId,
        shape: &'a [usize],
        values: &'a [f32],
        options: &'a PutOptions,
    ) -> Result<Self, StoreError> {
        id.check()?;
        check_shape(shape, values.len())?;
        if let Some(max_error) = options.max_error {
            check_max_error(max_error)?;
        }
        options.user.as_deref().map_or(Ok(()), check_user)?;
        if options.tier == Some(Tier::Absent) {
            return Err(StoreError::AbsentValues);
        }
        // Under `Reject`, the encoder itself detects non-finite values, which saves a pass over the values.
        let values = match options.non_finite {
            NonFinite::Reject => Cow::Borrowed(values),
            policy => blocks::make_finite(values, policy, core.config.block_len.get())?,
        };
        Ok(Self { id, key: id.key(), shape, values, options, coded: None, kept: Kept::default() })
    }

    /// Encodes at the tier that follows from the current state, unless the values are already encoded at that tier.
    pub(super) fn encode(&mut self, core: &Core, seen: Option<&Found>) -> Result<(), StoreError> {
        self.kept = match seen {
            Some(found) => Kept::read_if_whole(found, self.id)?,
            None => Kept::default(),
        };
        let (tier, asked) = self.tier(core, seen);
        let limit = self.max_error(seen);
        let coding = TierEncoder { block: core.config.block_len, two_level: self.options.two_level };
        // Add bits until the error is within the limit, starting with the wanted tier.
        for tier in Tier::ALL.into_iter().rev().filter(|other| *other <= tier && (!asked || *other == tier)) {
            if tier == Tier::Lossless && !asked {
                break;
            }
            let coded = match self.coded.take().filter(|coded| coded.tier == tier) {
                Some(coded) => coded,
                None => coding.encode(tier, &self.values, &[])?,
            };
            let bound = coded.accuracy.bound();
            self.coded = Some(coded);
            match limit {
                Some(wanted) if bound > wanted => {
                    if asked || tier == Tier::F16 {
                        return Err(StoreError::BoundExceeded { tier, wanted, got: bound });
                    }
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Returns the encoded values.
    pub(super) fn take_coded(&mut self) -> Option<Coded> {
        self.coded.take()
    }

    fn commit(&mut self, core: &Core, seen: Option<&Found>, now: u64) -> Result<Provenance, StoreError> {
        let Some(coded) = self.coded.take() else { return Err(StoreError::NotFound { id: self.id.clone() }) };
        let head = head_of(&coded, self.shape, self.options, seen, &self.kept, now);
        let cost = provenance(coded.tier, coded.encoding, coded.accuracy);
        let content = Content::Tensor(self.id.as_id(), head);
        let mut records = [Record { draft: coded.draft, content, time: now }];
        core.commit(&mut records, now)?;
        let [Record { draft, .. }] = records;
        draft_pool::keep(draft);
        Ok(cost)
    }

    /// Returns the tier to encode at, and whether it is mandatory, so that more bits are not tried.
    fn tier(&self, core: &Core, seen: Option<&Found>) -> (Tier, bool) {
        let asked = if self.options.lossless { Some(Tier::Lossless) } else { self.options.tier };
        let tier = match (asked, self.pin(seen)) {
            // The pin is the minimum for every write, even for an explicit tier.
            (Some(tier), Some(pin)) => tier.min(pin),
            (Some(tier), None) | (None, Some(tier)) => tier,
            (None, None) => core.default_tier(seen),
        };
        (tier, asked == Some(tier) || tier == Tier::Lossless)
    }

    /// Returns the pin of the new tensor, if it is a tier with data.
    fn pin(&self, seen: Option<&Found>) -> Option<Tier> {
        pin(self.options, seen).filter(|pin| *pin != Tier::Absent)
    }

    fn max_error(&self, seen: Option<&Found>) -> Option<f32> {
        max_error(self.options, seen)
    }
}

/// Returns the pin of a tensor that replaces `seen`.
pub(super) fn pin(options: &PutOptions, seen: Option<&Found>) -> Option<Tier> {
    options.pin.or_else(|| seen.and_then(|found| found.traits.pinned))
}

/// Fails if the put would replace frames that are to be kept.
pub(super) fn check_frames(options: &PutOptions, id: &TensorId, seen: Option<&Found>) -> Result<(), StoreError> {
    match seen.map_or(Ok(0), |found| found.frame_count(id)) {
        Ok(frames) if frames > 0 && options.keep_frames => Err(StoreError::HasFrames { id: id.clone(), frames }),
        _ => Ok(()),
    }
}

/// Returns the error limit of a tensor that replaces `seen`.
pub(super) fn max_error(options: &PutOptions, seen: Option<&Found>) -> Option<f32> {
    options.max_error.or_else(|| seen.and_then(|found| found.traits.max_error))
}

/// Returns the head of a tensor that replaces `seen`.
pub(super) fn head_of<'a>(
    coded: &Coded,
    shape: &[usize],
    options: &'a PutOptions,
    seen: Option<&Found>,
    kept: &'a Kept,
    now: u64,
) -> TensorHead<'a> {
    let user = options.user.as_ref().unwrap_or(&kept.user);
    let pinned = pin(options, seen);
    TensorHead {
        shape: shape.to_vec(),
        tier: coded.tier.code(),
        encoding: coded.encoding,
        accuracy: coded.accuracy,
        created: kept.created.unwrap_or(now),
        updated: now,
        pinned: pinned.map(Tier::code),
        max_error: max_error(options, seen),
        user: user.iter().map(|(key, value)| (&**key, &**value)).collect(),
        reconstruct: None, // would return the old values
    }
}

impl Kept {
    /// Like [`read`](Self::read), but returns the default if the record is damaged, because a put is the way to replace
    /// it.
    pub(super) fn read_if_whole(found: &Found, id: &TensorId) -> Result<Self, StoreError> {
        match Self::read(found, id) {
            Err(StoreError::Damaged { .. }) => Ok(Self::default()),
            kept => kept,
        }
    }

    pub(super) fn read(found: &Found, id: &TensorId) -> Result<Self, StoreError> {
        record::with_buffer(|buffer| {
            let view = record::read_head(&found.place, Some(id), buffer)?;
            let head = record::tensor_head(&view, &found.place, id)?;
            let user = head.user.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
            Ok(Self { created: Some(head.created), user })
        })
    }
}

impl Core {
    /// Returns the tier of a write without an explicit tier or pin: never fewer bits than the first tier, because only
    /// a tick lowers precision; more if the last tick wanted them.
    pub(super) fn default_tier(&self, seen: Option<&Found>) -> Tier {
        let first = self.config.policy.first_tier;
        seen.map_or(first, |found| first.min(found.wanted))
    }
}
