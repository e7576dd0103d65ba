//! Reading tensors that have no data.

use bitgrain_formats::segment::{Encoding, Reconstruct as StoredPolicy, TensorHead};

use super::reader::{Reader, decode_data, provenance_of};
use super::view::Found;
use crate::reconstruct::{Approximate, Factor, MAX_DEPTH, Projection, apply_delta, apply_factor};
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, body, read};

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
    /// The values of an absent tensor: reconstructed, or zeros.
    pub(super) fn absent(&self, found: &Found, id: &TensorId, out: &mut [f32]) -> Result<Provenance, StoreError> {
        if found.traits.reconstructable {
            let Rebuilt { result, depth, .. } = self.rebuild(found, id, 1)?;
            if result.values.len() != out.len() {
                return Err(StoreError::ShapeMismatch { expected: out.len(), got: result.values.len() });
            }
            out.copy_from_slice(&result.values);
            let bound = result.bound;
            return Ok(Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth });
        }
        match self.absent {
            AbsentReads::Refuse => Err(StoreError::TierZeroNoPolicy { id: id.clone() }),
            AbsentReads::Zeros => {
                out.fill(0.0);
                let bound = f32::INFINITY;
                Ok(Provenance { tier: Tier::Absent, bits: 0, bound, measured: bound, depth: 0 })
            }
        }
    }

    /// Puts an absent tensor together.
    fn rebuild(&self, found: &Found, id: &TensorId, depth: u8) -> Result<Rebuilt, StoreError> {
        if depth > MAX_DEPTH {
            return Err(StoreError::ReconstructionDepthExceeded { id: id.clone(), limit: MAX_DEPTH });
        }
        let mut buffer = Vec::new();
        let whole = read::record(&found.place, Some(id), self.check, &mut buffer)?;
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
        let whole = read::record(&found.place, Some(id), self.check, &mut buffer)?;
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
