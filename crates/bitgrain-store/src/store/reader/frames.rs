//! Reading of frames.

use std::ops::Range;

use bitgrain_formats::segment::{FrameHead, FrameValues};

use super::Reader;
use crate::record::Check;
use crate::segment::Place;
use crate::store::frame_head::{coded_head, tier_of};
use crate::store::frames::Frame;
use crate::store::lookup::Found;
use crate::temporal::{EncodedFrameHead, FrameConfig, FrameEncoder, FrameRole, RunDecoder};
use crate::{Provenance, StoreError, TensorId, blocks, half, record};

impl Reader<'_> {
    /// Reads a range of frames; a key frame that several frames share is read once.
    pub(in crate::store) fn frames(
        &self,
        found: &Found,
        id: &TensorId,
        range: Range<u64>,
    ) -> Result<Vec<Frame>, StoreError> {
        let frames = found.frame_count(id)?;
        if range.start > range.end || range.end > frames {
            return Err(StoreError::FramesOutOfRange { start: range.start, end: range.end, frames });
        }
        self.frames_at(found, id, range, 1)
    }

    /// Like [`frames`](Self::frames), `depth` reconstructions away from the frame to read.
    pub(super) fn frames_at(
        &self,
        found: &Found,
        id: &TensorId,
        range: Range<u64>,
        depth: u8,
    ) -> Result<Vec<Frame>, StoreError> {
        let mut run = Frames { reader: *self, found, id, depth, decoder: None };
        range.map(|index| run.read(index)).collect()
    }

    /// Reads the last frame.
    pub(in crate::store) fn last_frame(&self, found: &Found, id: &TensorId) -> Result<Frame, StoreError> {
        let frames = found.frame_count(id)?;
        let last = self.frames(found, id, frames.saturating_sub(1)..frames)?.pop();
        last.ok_or(StoreError::FramesOutOfRange { start: 0, end: 1, frames })
    }

    /// Returns an encoder that continues the last run.
    pub(in crate::store) fn resume(
        &self,
        found: &Found,
        id: &TensorId,
        settings: FrameConfig,
    ) -> Result<FrameEncoder, StoreError> {
        let next = found.frame_count(id)?;
        let mut run = Frames { reader: *self, found, id, depth: 1, decoder: None };
        let Some(last) = next.checked_sub(1) else {
            let count = crate::store::limits::elements(&self.shape(found, id)?)?;
            return Ok(FrameEncoder::new(settings, count));
        };
        let (head, body) = run.record(last)?;
        let Some(coded) = coded_head(&head) else {
            // A frame of floats, or without data, ends the run before it.
            return Ok(FrameEncoder::new(settings, crate::store::limits::elements(&head.shape)?));
        };
        if head.rewritten.is_some() {
            // A frame depends either on appended frames or on those that were re-encoded with it; see `check_version`.
            return Ok(FrameEncoder::new(settings, crate::store::limits::elements(&head.shape)?));
        }
        run.prepare(&head, &coded)?;
        if coded.role == FrameRole::DifferenceKey
            && let Some(decoder) = &mut run.decoder
        {
            decoder.load_scales(last, &coded, &body)?;
        }
        let decoder = run.decoder.ok_or_else(|| StoreError::NotTemporal { id: id.clone() })?;
        Ok(FrameEncoder::resume(settings, &decoder, next))
    }
}

/// Sequential reader of the frames of one tensor.
struct Frames<'a> {
    reader: Reader<'a>,
    found: &'a Found,
    id: &'a TensorId,
    /// Number of the reconstruction that a frame without data needs.
    depth: u8,
    /// Decoder for the run of the last frame read.
    decoder: Option<RunDecoder>,
}

impl Frames<'_> {
    fn read(&mut self, index: u64) -> Result<Frame, StoreError> {
        let (head, body) = self.record(index)?;
        if head.values == FrameValues::Absent {
            return self.reader.rebuild_frame(self.found, self.id, &head, self.depth);
        }
        let mut values = vec![0.0; crate::store::limits::elements(&head.shape)?];
        let (role, bits) = match coded_head(&head) {
            None => {
                match head.values {
                    FrameValues::Half => half::decode(&body, &mut values)?,
                    FrameValues::Raw | FrameValues::Codes(_) | FrameValues::Absent => {
                        blocks::read_raw(&body, &mut values)
                    }
                }
                (FrameRole::Key, head.values.bits())
            }
            Some(coded) => {
                self.prepare(&head, &coded)?;
                let decoder = self.decoder.as_ref().ok_or_else(|| StoreError::NotTemporal { id: self.id.clone() })?;
                decoder.decode_into(index, &coded, &body, &mut values)?;
                (coded.role, coded.width.bits())
            }
        };
        let (bound, measured) = (head.accuracy.bound(), head.accuracy.measured());
        let provenance = Provenance { tier: tier_of(&head), bits, bound, measured, depth: 0 };
        Ok(Frame { index, time: head.time, values, role, provenance })
    }

    /// Loads the frames that a frame depends on.
    fn prepare(&mut self, head: &FrameHead, coded: &EncodedFrameHead) -> Result<(), StoreError> {
        let key = coded.key_index(head.index);
        self.check_version(head, key)?;
        if self.decoder.as_ref().is_none_or(|decoder| decoder.key_index() != key) {
            let (head, body) = self.record(key)?;
            let count = crate::store::limits::elements(&head.shape)?;
            self.decoder = Some(RunDecoder::new(key, &needed_head(&head, key)?, &body, count)?);
        }
        let scales = coded.scales_index(head.index);
        self.check_version(head, scales)?;
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        if coded.role == FrameRole::DifferenceShared && decoder.scales_index() != Some(scales) {
            let (head, body) = record(self.found, self.id, scales)?;
            decoder.load_scales(scales, &needed_head(&head, scales)?, &body)?;
        }
        Ok(())
    }

    /// Checks that frame `needed` is the version that a frame was encoded against. In a damaged store, a re-encoded frame may
    /// be lost while its older version exists; decoding others against that would return wrong values. A run is re-encoded
    /// in one batch, in which sequence numbers and indices are consecutive, and a frame follows the one it depends on.
    fn check_version(&self, head: &FrameHead, needed: u64) -> Result<(), StoreError> {
        let index = head.index;
        let sequence = |at: u64| {
            let frames = self.found.frames.as_ref()?;
            Some(frames.get(usize::try_from(at).ok()?)?.sequence)
        };
        let matches = match (sequence(index), sequence(needed)) {
            _ if needed == index => true,
            (Some(own), Some(other)) if head.rewritten.is_some() => own.checked_sub(other) == index.checked_sub(needed),
            (Some(own), Some(other)) => other < own,
            _ => false,
        };
        if matches {
            Ok(())
        } else {
            Err(StoreError::FrameOutOfRun { index, needed, what: "frame of the same version" })
        }
    }

    fn record(&self, index: u64) -> Result<(FrameHead, Vec<u8>), StoreError> {
        record(self.found, self.id, index)
    }
}

/// Converts the head of frame `needed`, which another frame refers to. Frames of floats have neither scales nor codes.
fn needed_head(head: &FrameHead, needed: u64) -> Result<EncodedFrameHead, StoreError> {
    coded_head(head).ok_or(StoreError::FrameOutOfRun { index: head.index, needed, what: "key frame" })
}

/// Reads head and body of a frame.
fn record(found: &Found, id: &TensorId, index: u64) -> Result<(FrameHead, Vec<u8>), StoreError> {
    let frames = found.frames.as_ref().map_or(&[][..], |frames| frames);
    let count = frames.len() as u64;
    let place: &Place = usize::try_from(index)
        .ok()
        .and_then(|at| frames.get(at))
        .ok_or(StoreError::FramesOutOfRange { start: index, end: index + 1, frames: count })?;
    record::with_buffer(|buffer| {
        let whole = record::read(place, Some(id), Check::Alone, buffer)?;
        let head = record::frame_head(&whole.view, place, id)?;
        Ok((head.clone(), whole.body.to_vec()))
    })
}
