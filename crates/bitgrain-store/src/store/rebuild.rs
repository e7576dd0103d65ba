//! Reading tensors that have no data.

use bitgrain_formats::segment::{Encoding, Reconstruct as StoredPolicy, TensorHead};

use super::limits::elements;
use super::reader::{Reader, decode_data, provenance_of};
use super::view::Found;
use crate::read::Check;
use crate::reconstruct::{Approximate, Factor, MAX_DEPTH, Projection, apply_delta, apply_factor};
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, body, read};

/// Most zeros that stand for a tensor without data in memory of the store's own: 1 GiB of them.
const MAX_ZEROS: usize = 1 << 28;

/// Where zeros come from that stand for anything.
const NOTHING: Provenance =
    Provenance { tier: Tier::Absent, bits: 0, bound: f32::INFINITY, measured: f32::INFINITY, depth: 0 };

/// A tensor that was put together.
struct Rebuilt {
    shape: Vec<usize>,
    result: Approximate,
    /// Reconstructions that were followed.
    depth: u8,
}

/// What a policy does with its base.
enum Step {
    Delta(Approximate),
    Factor(Factor),
}

impl Reader<'_> {
    /// The values of a tensor whose record has none: of its last frame, reconstructed, or zeros.
    ///
    /// # Errors
    /// [`StoreError::TooManyZeros`] if nothing but its shape says how many there are, and they are very many.
    pub(super) fn made(
        &self,
        found: &Found,
        id: &TensorId,
        shape: &[usize],
    ) -> Result<(Vec<f32>, Provenance), StoreError> {
        if let Some(made) = self.made_of_data(found, id, shape)? {
            return Ok(made);
        }
        let (values, limit) = (elements(shape)?, MAX_ZEROS);
        let mut zeros = Vec::new();
        if values > limit || zeros.try_reserve_exact(values).is_err() {
            return Err(StoreError::TooManyZeros { id: id.clone(), values, limit });
        }
        zeros.resize(values, 0.0);
        Ok((zeros, NOTHING))
    }

    /// As [`made`](Self::made), in memory that is there.
    pub(super) fn made_into(
        &self,
        found: &Found,
        id: &TensorId,
        shape: &[usize],
        out: &mut [f32],
    ) -> Result<Provenance, StoreError> {
        let (expected, got) = (elements(shape)?, out.len());
        if expected != got {
            return Err(StoreError::ShapeMismatch { expected, got });
        }
        let Some((values, provenance)) = self.made_of_data(found, id, shape)? else {
            out.fill(0.0);
            return Ok(NOTHING);
        };
        out.copy_from_slice(&values);
        Ok(provenance)
    }

    /// The values of a tensor with frames or a policy; none if it has neither, and zeros will do.
    fn made_of_data(
        &self,
        found: &Found,
        id: &TensorId,
        shape: &[usize],
    ) -> Result<Option<(Vec<f32>, Provenance)>, StoreError> {
        let expected = elements(shape)?;
        if found.traits.temporal {
            let frame = self.last_frame(found, id)?;
            let got = frame.values.len();
            return if got == expected {
                Ok(Some((frame.values, frame.provenance)))
            } else {
                Err(StoreError::FrameShape { expected, got })
            };
        }
        if found.traits.reconstructable {
            let Rebuilt { result: Approximate { values, bound }, depth, .. } = self.rebuild(found, id, 1)?;
            let got = values.len();
            let provenance = Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth };
            return if got == expected {
                Ok(Some((values, provenance)))
            } else {
                Err(StoreError::ShapeMismatch { expected, got })
            };
        }
        match self.absent {
            AbsentReads::Refuse => Err(StoreError::TierZeroNoPolicy { id: id.clone() }),
            AbsentReads::Zeros => Ok(None),
        }
    }

    /// Puts an absent tensor together.
    fn rebuild(&self, found: &Found, id: &TensorId, depth: u8) -> Result<Rebuilt, StoreError> {
        if depth > MAX_DEPTH {
            return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
        }
        let mut buffer = Vec::new();
        let whole = read::record(&found.place, Some(id), Check::Alone, &mut buffer)?;
        let head = read::tensor_of(&whole.view, &found.place, id)?;
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

    /// The tensor that another is made of: its data, or put together itself.
    fn source(&self, found: &Found, id: &TensorId, depth: u8) -> Result<Rebuilt, StoreError> {
        let mut buffer = Vec::new();
        let whole = read::record(&found.place, Some(id), Check::Alone, &mut buffer)?;
        let head = read::tensor_of(&whole.view, &found.place, id)?;
        match head.encoding {
            Encoding::Absent if head.reconstruct.is_some() => self.rebuild(found, id, depth + 1),
            Encoding::Absent => Err(StoreError::TierZeroNoPolicy { id: id.clone() }),
            Encoding::Frames => Err(StoreError::Temporal { id: id.clone() }),
            Encoding::Raw | Encoding::Blocks(_) => {
                let mut values = vec![0.0; head.count()];
                decode_data(head, whole.body, &mut values, &found.place, id)?;
                let bound = provenance_of(head).bound;
                Ok(Rebuilt { shape: head.shape.clone(), result: Approximate { values, bound }, depth })
            }
        }
    }
}

/// What a record says about how its tensor comes back.
fn step_of(head: &TensorHead<'_>, bytes: &[u8], id: &TensorId) -> Result<(TensorId, Step), StoreError> {
    let none = || StoreError::TierZeroNoPolicy { id: id.clone() };
    let parts = head.parts().ok_or_else(none)?;
    let step = match head.reconstruct.ok_or_else(none)? {
        StoredPolicy::Delta { format, .. } => {
            let blocks = bytes.get(parts.delta).ok_or_else(none)?;
            let mut values = vec![0.0; head.count()];
            body::decode(format, blocks, &mut values)?;
            // What was to be added was a difference rounded to f32, perhaps.
            let encoded = format.bound(blocks, head.count())?;
            let rounding = (bitgrain_codec::max_abs(&values) + encoded) * f32::EPSILON;
            Step::Delta(Approximate { values, bound: (encoded + rounding).next_up() })
        }
        StoredPolicy::Factor { scale, permutation, projection, .. } => {
            let words =
                |bytes: &[u8]| bytes.as_chunks().0.iter().map(|le| u32::from_le_bytes(*le)).collect::<Vec<u32>>();
            let order = words(bytes.get(parts.permutation).ok_or_else(none)?);
            let mut matrix = vec![0.0; parts.projection.len() / 4];
            body::unraw(bytes.get(parts.projection).ok_or_else(none)?, &mut matrix);
            let projection = projection.map(|(rows, columns)| Projection::new(rows, columns, matrix)).transpose()?;
            Step::Factor(Factor { scale, permutation: permutation.map(|_| order), projection })
        }
    };
    let base = head.reconstruct.map(|policy| TensorId::from(policy.needs())).ok_or_else(none)?;
    Ok((base, step))
}
