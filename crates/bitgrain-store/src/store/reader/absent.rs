//! Reading of tensors without values in their record: reconstructed, or zeros.

use bitgrain_formats::segment::{Encoding, FrameHead, Reconstruct, TensorHead};

use super::{Destination, Reader, decode, provenance_of};
use crate::reconstruct::{Approximate, Factor, MAX_DEPTH, Projection, apply_delta, apply_factor};
use crate::record::Check;
use crate::store::frames::Frame;
use crate::store::limits::elements;
use crate::store::lookup::Found;
use crate::temporal::FrameRole;
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, blocks, record};

/// Provenance of zeros returned in place of evicted data.
const NOTHING: Provenance =
    Provenance { tier: Tier::Absent, bits: 0, bound: f32::INFINITY, measured: f32::INFINITY, depth: 0 };

/// A reconstructed tensor.
struct Rebuilt {
    shape: Vec<usize>,
    result: Approximate,
    /// Number of reconstructions.
    depth: u8,
}

/// Operation of a policy on its base.
enum Step {
    Delta(Approximate),
    Factor(Factor),
}

impl Reader<'_> {
    /// Reads a tensor without values in its record: the last frame, a reconstruction, or zeros. Returns its shape.
    pub(in crate::store) fn read_derived(
        &self,
        found: &Found,
        id: &TensorId,
        out: &mut impl Destination,
    ) -> Result<(Vec<usize>, Provenance), StoreError> {
        let shape = self.shape(found, id)?;
        let expected = elements(&shape)?;
        let provenance = if found.traits.temporal {
            let frame = self.last_frame(found, id)?;
            let got = frame.values.len();
            if got != expected {
                return Err(StoreError::FrameShape { expected, got });
            }
            out.take(frame.values)?;
            frame.provenance
        } else if found.traits.reconstructable {
            let Rebuilt { result: Approximate { values, bound }, depth, .. } = self.rebuild(found, id, 1)?;
            let got = values.len();
            if got != expected {
                return Err(StoreError::ShapeMismatch { expected, got });
            }
            out.take(values)?;
            Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth }
        } else {
            if self.absent == AbsentReads::Refuse {
                return Err(StoreError::TierZeroNoPolicy { id: id.clone() });
            }
            out.make_zeros(expected, id)?;
            NOTHING
        };
        Ok((shape, provenance))
    }

    /// Reconstructs an absent tensor.
    fn rebuild(&self, found: &Found, id: &TensorId, depth: u8) -> Result<Rebuilt, StoreError> {
        if depth > MAX_DEPTH {
            return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
        }
        let mut buffer = Vec::new();
        let whole = record::read(&found.place, Some(id), Check::Alone, &mut buffer)?;
        let head = record::tensor_head(&whole.view, &found.place, id)?;
        let (base, step) = step_of(head, whole.body, id)?;
        let there = self.find.lookup(&base).ok_or_else(|| StoreError::NotFound { id: base.clone() })?;
        let source = self.source(&there, &base, depth)?;
        match step {
            Step::Delta(delta) => {
                let result = apply_delta(source.result, &delta)?;
                Ok(Rebuilt { shape: head.shape.clone(), result, depth: source.depth })
            }
            Step::Factor(factor) => {
                let (shape, result) = apply_factor(&source.shape, &source.result, &factor)?;
                Ok(Rebuilt { shape, result, depth: source.depth })
            }
        }
    }

    /// Reconstructs a frame without data from the base's frame with the same index, or from a base without frames.
    pub(super) fn rebuild_frame(
        &self,
        found: &Found,
        id: &TensorId,
        head: &FrameHead,
        depth: u8,
    ) -> Result<Frame, StoreError> {
        if depth > MAX_DEPTH {
            return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
        }
        let mut buffer = Vec::new();
        let whole = record::read(&found.place, Some(id), Check::Alone, &mut buffer)?;
        let (base, step) = step_of(record::tensor_head(&whole.view, &found.place, id)?, whole.body, id)?;
        let there = self.find.lookup(&base).ok_or_else(|| StoreError::NotFound { id: base.clone() })?;
        let source = if there.traits.temporal {
            let frames = there.frame_count(&base)?;
            if head.index >= frames {
                return Err(StoreError::FramesOutOfRange { start: head.index, end: head.index + 1, frames });
            }
            let frame = self.frames_at(&there, &base, head.index..head.index + 1, depth + 1)?.pop();
            let frame = frame.ok_or(StoreError::FramesOutOfRange { start: head.index, end: head.index + 1, frames })?;
            let Provenance { bound, depth: below, .. } = frame.provenance;
            let result = Approximate { values: frame.values, bound };
            Rebuilt { shape: self.shape(&there, &base)?, result, depth: below.max(depth) }
        } else {
            self.source(&there, &base, depth)?
        };
        let (shape, Approximate { values, bound }) = match step {
            Step::Delta(delta) => (head.shape.clone(), apply_delta(source.result, &delta)?),
            Step::Factor(factor) => apply_factor(&source.shape, &source.result, &factor)?,
        };
        let (expected, got) = (elements(&head.shape)?, values.len());
        if got != expected || shape != head.shape {
            return Err(StoreError::ShapeMismatch { expected, got });
        }
        let provenance = Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth: source.depth };
        Ok(Frame { index: head.index, time: head.time, values, role: FrameRole::Key, provenance })
    }

    /// Reads the base of a reconstruction: its stored data, or its own reconstruction.
    fn source(&self, found: &Found, id: &TensorId, depth: u8) -> Result<Rebuilt, StoreError> {
        let mut buffer = Vec::new();
        let whole = record::read(&found.place, Some(id), Check::Alone, &mut buffer)?;
        let head = record::tensor_head(&whole.view, &found.place, id)?;
        match head.encoding {
            Encoding::Absent if head.reconstruct.is_some() => self.rebuild(found, id, depth + 1),
            Encoding::Absent => Err(StoreError::TierZeroNoPolicy { id: id.clone() }),
            Encoding::Frames => Err(StoreError::Temporal { id: id.clone() }),
            Encoding::Raw | Encoding::Half | Encoding::Blocks(_) => {
                let mut values = vec![0.0; head.count()];
                decode(head.encoding, whole.body, &mut values, &found.place, id)?;
                let bound = provenance_of(head).bound;
                Ok(Rebuilt { shape: head.shape.clone(), result: Approximate { values, bound }, depth })
            }
        }
    }
}

/// Decodes the reconstruction policy of a record.
fn step_of(head: &TensorHead<'_>, bytes: &[u8], id: &TensorId) -> Result<(TensorId, Step), StoreError> {
    let none = || StoreError::TierZeroNoPolicy { id: id.clone() };
    let parts = head.parts().ok_or_else(none)?;
    let step = match head.reconstruct.ok_or_else(none)? {
        Reconstruct::Delta { format, .. } => {
            let blocks = bytes.get(parts.delta).ok_or_else(none)?;
            let mut values = vec![0.0; head.count()];
            blocks::decode(format, blocks, &mut values)?;
            // The delta may have been computed as a difference rounded to f32, so that rounding is part of the bound.
            let encoded = format.bound(blocks, head.count())?;
            let rounding = (bitgrain_codec::max_abs(&values) + encoded) * f32::EPSILON;
            Step::Delta(Approximate { values, bound: (encoded + rounding).next_up() })
        }
        Reconstruct::Factor { scale, permutation, projection, .. } => {
            let words =
                |bytes: &[u8]| bytes.as_chunks().0.iter().map(|le| u32::from_le_bytes(*le)).collect::<Vec<u32>>();
            let order = words(bytes.get(parts.permutation).ok_or_else(none)?);
            let mut matrix = vec![0.0; parts.projection.len() / 4];
            blocks::read_raw(bytes.get(parts.projection).ok_or_else(none)?, &mut matrix);
            let projection = projection.map(|(rows, columns)| Projection::new(rows, columns, matrix)).transpose()?;
            Step::Factor(Factor { scale, permutation: permutation.map(|_| order), projection })
        }
    };
    let base = head.reconstruct.map(|policy| TensorId::from(policy.needs())).ok_or_else(none)?;
    Ok((base, step))
}
