//! Appending frames to temporal tensors, which are sequences of tensors with one shape.

use bitgrain_formats::segment::{Accuracy, Content, Encoding, FrameHead, FrameValues, TensorHead};

use super::edit::Edit;
use super::frame_head::{float_head, stored_head, tier_of};
use super::limits::{check_max_error, check_shape};
use super::lookup::Found;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::temporal::{FrameConfig, FrameEncoder, FrameRole};
use crate::{Provenance, StoreError, TensorId, Tier, blocks, half};

/// Result of appending a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameProvenance {
    /// 0-based index of the frame.
    pub index: u64,
    /// Data it shares with other frames.
    pub role: FrameRole,
    /// Tier, bits and errors of the frame.
    pub provenance: Provenance,
    /// Size of scales and codes in bytes.
    pub bytes: u64,
}

impl TensorStore {
    /// Appends a frame to a temporal tensor, or creates the tensor with this frame. `time` is the caller's timestamp,
    /// in any unit.
    ///
    /// The frame is encoded at the tensor's pin, or else at the first tier of the policy (8 bits), regardless of use; with
    /// more bits if the last tick wanted them.
    /// It shares scales with earlier frames, or is stored as a difference, where that is smaller without a larger error
    /// bound. Lossless frames are stored unchanged.
    ///
    /// # Errors
    /// Returns [`StoreError::NotTemporal`] if the id was put as one tensor, [`StoreError::FrameShape`] if earlier
    /// frames have another shape, [`StoreError::BoundExceeded`], and the errors of [`put`](Self::put).
    pub fn append(
        &self,
        id: impl Into<TensorId>,
        shape: &[usize],
        frame: &[f32],
        time: u64,
    ) -> Result<FrameProvenance, StoreError> {
        self.append_limited(id, shape, frame, time, None)
    }

    /// Like [`append`](Self::append), with the largest error allowed for this frame and all later ones. `None` keeps
    /// the current limit.
    ///
    /// # Errors
    /// Returns the errors of [`append`](Self::append) and [`set_max_error`](Self::set_max_error).
    pub fn append_limited(
        &self,
        id: impl Into<TensorId>,
        shape: &[usize],
        frame: &[f32],
        time: u64,
        max_error: Option<f32>,
    ) -> Result<FrameProvenance, StoreError> {
        let id = id.into();
        max_error.map_or(Ok(()), check_max_error)?;
        let before = self.core.find(&id.key()).filter(|found| found.traits.temporal);
        let before =
            before.map(|found| found.traits.max_error).filter(|limit| max_error.is_some() && *limit != max_error);
        if before.is_some() {
            self.set_max_error(&id, max_error)?;
        }
        let appended = self.append_to(&id, shape, frame, time, max_error);
        if let (Err(_), Some(limit)) = (&appended, before) {
            self.core.edit(&id, &Edit::MaxError(limit))?; // restore the old limit
        }
        appended
    }

    fn append_to(
        &self,
        id: &TensorId,
        shape: &[usize],
        frame: &[f32],
        time: u64,
        max_error: Option<f32>,
    ) -> Result<FrameProvenance, StoreError> {
        let core = &self.core;
        id.check()?;
        check_shape(shape, frame.len())?;
        core.log()?.check()?;
        let key = id.key();
        // Held while encoding, because a frame depends on the frames before it.
        let _held = core.lock_tensor(&key);
        let mut appending = Appending::new(core, id, shape)?;
        appending.max_error = max_error.or(appending.max_error);
        let encoded = appending.encode(core, frame, time)?;
        let (index, role, provenance) = (encoded.head.index, encoded.role, provenance_of(&encoded.head));
        let bytes = encoded.body.len() as u64;
        let now = core.now();
        let mut records = appending.records(&[encoded], now);
        core.commit(&mut records, now)?;
        drop(records);
        core.keep_encoder(&key, appending.encoder);
        core.touch(&key);
        Ok(FrameProvenance { index, role, provenance, bytes })
    }
}

/// Frames being appended to one tensor, under its lock.
pub(super) struct Appending<'a> {
    id: &'a TensorId,
    shape: Vec<usize>,
    found: Option<Found>,
    /// Whether the tensor already has a record.
    known: bool,
    pub(super) encoder: FrameEncoder,
    next: u64,
    /// Largest error bound allowed for the frames.
    max_error: Option<f32>,
}

/// An encoded frame.
pub(super) struct Appended {
    head: FrameHead,
    role: FrameRole,
    body: Vec<u8>,
}

impl<'a> Appending<'a> {
    pub(super) fn new(core: &Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
        let key = id.key();
        let Some(mut found) = core.find(&key) else { return Self::start(core, id, shape) };
        let next = found.frame_count(id)?;
        let expected = core.reader().shape(&found, id)?;
        if expected != shape {
            let (expected, got) = (expected.iter().product(), shape.iter().product());
            return Err(StoreError::FrameShape { expected, got });
        }
        let encoder = core.encoder(&key, &found, id)?;
        // Drop this reference before the list grows; otherwise growing would copy it.
        found.frames = None;
        let max_error = found.traits.max_error;
        Ok(Self { id, shape: shape.to_vec(), known: true, found: Some(found), encoder, next, max_error })
    }

    /// Starts the frames of a tensor that does not exist, or that an earlier change of the batch deletes.
    pub(super) fn start(core: &Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
        let settings = FrameConfig { block: core.config.block_len, ..core.config.frames };
        let encoder = FrameEncoder::new(settings, super::limits::elements(shape)?);
        Ok(Self { id, shape: shape.to_vec(), known: false, found: None, encoder, next: 0, max_error: None })
    }

    /// Encodes the next frame at the pin or the default tier, with more bits if the error limit requires it.
    pub(super) fn encode(&mut self, core: &Core, values: &[f32], time: u64) -> Result<Appended, StoreError> {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StoreError::NonFinite { index });
        }
        let pin = self.found.as_ref().and_then(|found| found.traits.pinned).filter(|pin| *pin != Tier::Absent);
        // Like a put: more bits if the last tick wanted them. Use never asks for more than 8 bits.
        let wanted = self.found.as_ref().map(|found| found.wanted.max(Tier::Hot));
        let first = core.config.policy.first_tier;
        let asked = pin.unwrap_or_else(|| wanted.map_or(first, |wanted| first.min(wanted)));
        if asked == Tier::Lossless {
            return Ok(self.lossless(values, time));
        }
        for tier in Tier::ALL.into_iter().rev().filter(|tier| (Tier::F16..=asked).contains(tier)) {
            let Some(width) = tier.width() else { return self.half(values, time) };
            let mut encoder = self.encoder.clone();
            encoder.set_config(FrameConfig { width, ..encoder.config() });
            let frame = encoder.encode(values)?;
            if self.max_error.is_none_or(|wanted| frame.head.bound <= wanted) {
                let head = stored_head(self.next, tier, &self.shape, time, &frame.head);
                (self.encoder, self.next) = (encoder, self.next + 1);
                return Ok(Appended { head, role: frame.head.role, body: frame.body });
            }
        }
        Err(StoreError::NotTemporal { id: self.id.clone() })
    }

    /// Stores the next frame unchanged.
    fn lossless(&mut self, values: &[f32], time: u64) -> Appended {
        let mut body = vec![0; 4 * values.len()];
        blocks::write_raw(values, &mut body);
        self.floats(Tier::Lossless, FrameValues::Raw, Accuracy::EXACT, body, time)
    }

    /// Stores the next frame as f16, or unchanged if it exceeds the range of f16.
    fn half(&mut self, values: &[f32], time: u64) -> Result<Appended, StoreError> {
        let (tier, largest) = (Tier::F16, bitgrain_codec::max_abs(values));
        if !half::fits(largest) {
            let mut body = vec![0; 4 * values.len()];
            blocks::write_raw(values, &mut body);
            return Ok(self.floats(tier, FrameValues::Raw, Accuracy::EXACT, body, time));
        }
        let mut body = vec![0; 2 * values.len()];
        let cost = half::encode(values, largest, &mut body)?;
        match self.max_error.filter(|wanted| cost.bound > *wanted) {
            Some(wanted) => Err(StoreError::BoundExceeded { tier, wanted, got: cost.bound }),
            None => {
                let accuracy = Accuracy::new(cost.bound, cost.measured);
                Ok(self.floats(tier, FrameValues::Half, accuracy, body, time))
            }
        }
    }

    /// Returns a frame of floats. Later frames cannot share scales with it or be differences to it.
    fn floats(&mut self, tier: Tier, values: FrameValues, accuracy: Accuracy, body: Vec<u8>, time: u64) -> Appended {
        let head = float_head(self.next, tier, &self.shape, time, values, accuracy);
        self.encoder.skip();
        self.next += 1;
        Appended { head, role: FrameRole::Key, body }
    }

    /// Marks the record of the tensor as written.
    pub(super) fn begun(&mut self) {
        self.known = true;
    }

    /// Returns the records of these frames, and of the tensor if it is new.
    pub(super) fn records(&self, frames: &[Appended], now: u64) -> Vec<Record<'a>> {
        let mut records = Vec::with_capacity(frames.len() + 1);
        if let Some(first) = frames.first().filter(|_| !self.known) {
            let head = TensorHead {
                shape: self.shape.clone(),
                tier: first.head.tier,
                encoding: Encoding::Frames,
                accuracy: Accuracy::EXACT,
                created: now,
                updated: now,
                pinned: None,
                max_error: self.max_error,
                user: Vec::new(),
                reconstruct: None,
            };
            records.push(Record::new(&[], Content::Tensor(self.id.as_id(), head), now));
        }
        for Appended { head, body, .. } in frames {
            records.push(Record::new(body, Content::Frame(self.id.as_id(), head.clone()), now));
        }
        records
    }
}

/// Returns tier, bits and errors of a frame.
fn provenance_of(head: &FrameHead) -> Provenance {
    let tier = tier_of(head);
    Provenance {
        tier,
        bits: head.values.bits(),
        bound: head.accuracy.bound(),
        measured: head.accuracy.measured(),
        depth: 0,
    }
}
