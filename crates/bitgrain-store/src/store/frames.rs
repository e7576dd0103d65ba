//! Temporal tensors: frames of one shape, one after another.

use std::ops::Range;

use bitgrain_codec::BitWidth;
use bitgrain_formats::segment::{Accuracy, Content, Draft, Encoding, FrameHead as StoredHead, TensorHead};

use super::TensorStore;
use super::frame_head::{lossless_head, stored_head, tier_of};
use super::limits::{check_max_error, check_shape};
use super::rewrite::Edit;
use super::view::Found;
use crate::log::Record;
use crate::temporal::{FrameEncoder, FrameRole, FrameSettings};
use crate::{Provenance, StoreError, TensorId, Tier, body};

/// What became of a frame that was appended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameProvenance {
    /// Its place among the frames, from 0.
    pub index: u64,
    /// What it shares with others.
    pub role: FrameRole,
    /// Tier, bits and errors.
    pub provenance: Provenance,
    /// Bytes of scales and codes.
    pub bytes: u64,
}

/// A frame that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its place among the frames, from 0.
    pub index: u64,
    /// The time it is of, as whoever appended it said.
    pub time: u64,
    /// Its values.
    pub values: Vec<f32>,
    /// What it shares with others.
    pub role: FrameRole,
    /// Where the values come from and how far they can be off.
    pub provenance: Provenance,
}

impl TensorStore {
    /// Appends a frame to a temporal tensor, or makes one with this frame. `time` is that of the frame, in whatever unit.
    ///
    /// The frame is encoded at the tensor's pin, or else at the first tier of the policy (8 bits), whatever its use was. Frames
    /// share scales with the ones before, or are differences to them, where that is smaller and the bound not larger; lossless
    /// frames are stored as they are.
    ///
    /// # Errors
    /// [`StoreError::NotTemporal`] if the id was put as a whole; [`StoreError::FrameShape`] if the frames before have
    /// another shape; [`StoreError::BoundExceeded`]; and as [`put`](Self::put).
    pub fn append(
        &self,
        id: impl Into<TensorId>,
        shape: &[usize],
        frame: &[f32],
        time: u64,
    ) -> Result<FrameProvenance, StoreError> {
        self.append_limited(id, shape, frame, time, None)
    }

    /// As [`append`](Self::append), with the largest error that this frame and all later ones may have. `None` leaves the limit
    /// as it is.
    ///
    /// # Errors
    /// As [`append`](Self::append) and [`set_max_error`](Self::set_max_error).
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
            self.core.edit(&id, &Edit::MaxError(limit))?; // as it was
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
        // Held while encoding: a frame depends on the ones before it.
        let _held = core.hold_one(&key);
        let mut appending = Appending::new(core, id, shape)?;
        appending.max_error = max_error.or(appending.max_error);
        let encoded = appending.encode(core, frame, time)?;
        let (index, role, provenance) = (encoded.head.index, encoded.role, provenance_of(&encoded.head));
        let bytes = encoded.body.len() as u64;
        let mut records = appending.records(&[encoded], core.now())?;
        core.commit(&mut records)?;
        drop(records);
        core.keep_encoder(&key, appending.encoder);
        core.touch(&key);
        Ok(FrameProvenance { index, role, provenance, bytes })
    }

    /// Reads frames of a temporal tensor.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotTemporal`], [`StoreError::FramesOutOfRange`]; [`StoreError::Damaged`],
    /// [`StoreError::Io`].
    pub fn frames(&self, id: impl Into<TensorId>, range: Range<u64>) -> Result<Vec<Frame>, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        self.core.reader().frames(&found, &id, range)
    }

    /// Number of frames of a temporal tensor.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotTemporal`].
    pub fn frame_count(&self, id: impl Into<TensorId>) -> Result<u64, StoreError> {
        let id = id.into();
        self.core.found(&id, &id.key())?.frame_count(&id)
    }
}

impl Found {
    pub(super) fn frame_count(&self, id: &TensorId) -> Result<u64, StoreError> {
        if !self.traits.temporal {
            return Err(StoreError::NotTemporal { id: id.clone() });
        }
        Ok(self.frames.as_ref().map_or(0, |frames| frames.len() as u64))
    }
}

/// Frames of one tensor on their way in, under its lock.
pub(super) struct Appending<'a> {
    id: &'a TensorId,
    shape: Vec<usize>,
    found: Option<Found>,
    /// True if the tensor needs no record of its own.
    known: bool,
    pub(super) encoder: FrameEncoder,
    next: u64,
    /// Largest bound that the frames may have.
    max_error: Option<f32>,
}

/// A frame that was encoded.
pub(super) struct Appended {
    head: StoredHead,
    role: FrameRole,
    body: Vec<u8>,
}

impl<'a> Appending<'a> {
    pub(super) fn new(core: &super::Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
        let key = id.key();
        let Some(mut found) = core.find(&key) else { return Self::anew(core, id, shape) };
        let next = found.frame_count(id)?;
        let expected = core.reader().shape(&found, id)?;
        if expected != shape {
            let (expected, got) = (expected.iter().product(), shape.iter().product());
            return Err(StoreError::FrameShape { expected, got });
        }
        let encoder = core.encoder(&key, &found, id)?;
        // The list of frames is about to grow; whoever holds it makes that a copy.
        found.frames = None;
        let max_error = found.traits.max_error;
        Ok(Self { id, shape: shape.to_vec(), known: true, found: Some(found), encoder, next, max_error })
    }

    /// The frames of a tensor that is not there, or no longer when they come.
    pub(super) fn anew(core: &super::Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
        let settings = FrameSettings { block: core.config.block_len, ..core.config.frames };
        let encoder = FrameEncoder::new(settings, super::limits::elements(shape)?);
        Ok(Self { id, shape: shape.to_vec(), known: false, found: None, encoder, next: 0, max_error: None })
    }

    /// Encodes the next frame at the pin or the default tier, with more bits if its error limit asks for them.
    pub(super) fn encode(&mut self, core: &super::Core, values: &[f32], time: u64) -> Result<Appended, StoreError> {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StoreError::NonFinite { index });
        }
        let pin = self.found.as_ref().and_then(|found| found.traits.pinned).filter(|pin| *pin != Tier::Absent);
        let asked = pin.unwrap_or_else(|| core.default_tier(self.found.as_ref()));
        if asked == Tier::Lossless {
            return Ok(self.lossless(values, time));
        }
        for tier in Tier::ALL.into_iter().rev().filter(|tier| (Tier::Hot..=asked).contains(tier)) {
            let Some(width) = tier.width() else { continue };
            let mut encoder = self.encoder.clone();
            encoder.set_settings(FrameSettings { width, ..encoder.settings() });
            let frame = encoder.encode(values)?;
            match self.max_error.filter(|wanted| frame.head.bound > *wanted) {
                Some(wanted) if tier == Tier::Hot => {
                    return Err(StoreError::BoundExceeded { tier, wanted, got: frame.head.bound });
                }
                Some(_) => {}
                None => {
                    let head = stored_head(self.next, tier, &self.shape, time, &frame.head);
                    (self.encoder, self.next) = (encoder, self.next + 1);
                    return Ok(Appended { head, role: frame.head.role, body: frame.body });
                }
            }
        }
        Err(StoreError::NotTemporal { id: self.id.clone() })
    }

    /// Stores the next frame as it is. Later frames neither share its scales nor are differences to it.
    fn lossless(&mut self, values: &[f32], time: u64) -> Appended {
        let mut body = vec![0; 4 * values.len()];
        body::raw(values, &mut body);
        let head = lossless_head(self.next, &self.shape, time);
        self.encoder.skip();
        self.next += 1;
        Appended { head, role: FrameRole::Key, body }
    }

    /// Notes that the tensor has its record.
    pub(super) fn begun(&mut self) {
        self.known = true;
    }

    /// The records of these frames, and of the tensor if it is new.
    pub(super) fn records(&self, frames: &[Appended], now: u64) -> Result<Vec<Record<'a>>, StoreError> {
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
            let mut draft = Draft::new(0);
            draft.checksum();
            records.push(Record { draft, content: Content::Tensor(self.id.as_id(), head), time: now });
        }
        for Appended { head, body, .. } in frames {
            let mut draft = Draft::new(body.len());
            draft.body_mut().copy_from_slice(body);
            draft.checksum();
            records.push(Record { draft, content: Content::Frame(self.id.as_id(), head.clone()), time: now });
        }
        Ok(records)
    }
}

/// Tier, bits and errors of a frame.
fn provenance_of(head: &StoredHead) -> Provenance {
    let tier = tier_of(head);
    let bits = head.width.map_or(Tier::Lossless.bits(), BitWidth::bits);
    Provenance { tier, bits, bound: head.accuracy.bound(), measured: head.accuracy.measured(), depth: 0 }
}
