//! Appending frames to temporal tensors: tensors of one shape, one after another.

use bitgrain_codec::BitWidth;
use bitgrain_formats::segment::{Accuracy, Content, Encoding, FrameHead, TensorHead};

use super::edit::Edit;
use super::frame_head::{lossless_head, stored_head, tier_of};
use super::limits::{check_max_error, check_shape};
use super::lookup::Found;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::temporal::{FrameConfig, FrameEncoder, FrameRole};
use crate::{Provenance, StoreError, TensorId, Tier, blocks};

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
        let now = core.now();
        let mut records = appending.records(&[encoded], now);
        core.commit(&mut records, now)?;
        drop(records);
        core.keep_encoder(&key, appending.encoder);
        core.touch(&key);
        Ok(FrameProvenance { index, role, provenance, bytes })
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
    head: FrameHead,
    role: FrameRole,
    body: Vec<u8>,
}

impl<'a> Appending<'a> {
    pub(super) fn new(core: &Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
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
    pub(super) fn anew(core: &Core, id: &'a TensorId, shape: &[usize]) -> Result<Self, StoreError> {
        let settings = FrameConfig { block: core.config.block_len, ..core.config.frames };
        let encoder = FrameEncoder::new(settings, super::limits::elements(shape)?);
        Ok(Self { id, shape: shape.to_vec(), known: false, found: None, encoder, next: 0, max_error: None })
    }

    /// Encodes the next frame at the pin or the default tier, with more bits if its error limit asks for them.
    pub(super) fn encode(&mut self, core: &Core, values: &[f32], time: u64) -> Result<Appended, StoreError> {
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
            encoder.set_config(FrameConfig { width, ..encoder.config() });
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
        blocks::write_raw(values, &mut body);
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

/// Tier, bits and errors of a frame.
fn provenance_of(head: &FrameHead) -> Provenance {
    let tier = tier_of(head);
    let bits = head.width.map_or(Tier::Lossless.bits(), BitWidth::bits);
    Provenance { tier, bits, bound: head.accuracy.bound(), measured: head.accuracy.measured(), depth: 0 }
}
