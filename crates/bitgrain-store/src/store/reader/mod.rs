//! From records to values, for the store as it is now and for a snapshot of it.
//!
//! | file | values that it reads |
//! |---|---|
//! | `mod.rs` | those of a tensor's own record |
//! | `rows.rs` | some rows of these |
//! | `frames.rs` | frames of a temporal tensor |
//! | `absent.rs` | those of a tensor without data: reconstructed, or zeros |

mod absent;
mod destination;
mod frames;
mod rows;

use bitgrain_formats::segment::{Encoding, TensorHead};

pub(super) use self::destination::Destination;
use super::Core;
use super::get::StoredTensor;
use super::lookup::{Found, Lookup};
use super::tier_encoder::provenance;
use crate::record::Check;
use crate::segment::Place;
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, blocks, record};

/// Reads tensors. Does not count accesses.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// Finds the tensors that others are reconstructed from.
    pub(super) find: &'a dyn Lookup,
    pub(super) absent: AbsentReads,
}

impl Core {
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { find: self, absent: self.config.absent_reads }
    }
}

impl Reader<'_> {
    /// Reads a tensor into new memory.
    pub(super) fn get(&self, found: &Found, id: &TensorId) -> Result<StoredTensor, StoreError> {
        let mut values = Vec::new();
        let (shape, provenance) = self.read(found, id, &mut values)?;
        Ok(StoredTensor { shape, values, provenance })
    }

    /// Reads a tensor, whether its values are in its record or elsewhere. Returns its shape.
    pub(super) fn read(
        &self,
        found: &Found,
        id: &TensorId,
        out: &mut impl Destination,
    ) -> Result<(Vec<usize>, Provenance), StoreError> {
        match self.read_own(&found.place, id, out)? {
            Some(read) => Ok(read),
            None => self.read_derived(found, id, out),
        }
    }

    /// Reads a tensor whose record has values; none if it has not. Uses several cores, so the caller must not hold a lock.
    pub(super) fn read_own(
        &self,
        place: &Place,
        id: &TensorId,
        out: &mut impl Destination,
    ) -> Result<Option<(Vec<usize>, Provenance)>, StoreError> {
        record::with_buffer(|buffer| {
            let record::Whole { view, body } = record::read(place, Some(id), Check::Together, buffer)?;
            let head = record::into_tensor_head(view, place, id)?;
            // Only values say that there are as many of them as the shape has.
            if !has_data(&head) {
                return Ok(None);
            }
            decode(head.encoding, body, out.make_room(head.count())?, place, id)?;
            let provenance = provenance_of(&head);
            Ok(Some((head.shape, provenance)))
        })
    }

    /// As [`read_own`](Self::read_own), for a small tensor, whose shape is not parsed; none if it is not small. Waits for no
    /// other thread.
    pub(super) fn read_small(
        &self,
        place: &Place,
        id: &TensorId,
        mut out: &mut [f32],
    ) -> Result<Option<Provenance>, StoreError> {
        record::with_buffer(|buffer| {
            let Some(values) = record::read_values(place, id, buffer)? else { return Ok(None) };
            decode(values.encoding, values.body, out.make_room(values.count)?, place, id)?;
            Ok(Some(provenance(tier_of(values.tier), values.encoding, values.accuracy)))
        })
    }

    /// Shape of a tensor.
    pub(super) fn shape(&self, found: &Found, id: &TensorId) -> Result<Vec<usize>, StoreError> {
        record::with_buffer(|buffer| {
            let view = record::read_head(&found.place, Some(id), buffer)?;
            Ok(record::tensor_head(&view, &found.place, id)?.shape.clone())
        })
    }
}

/// True if a record has values itself: as many as its body has bytes for.
fn has_data(head: &TensorHead<'_>) -> bool {
    matches!(head.encoding, Encoding::Raw | Encoding::Blocks(_))
}

/// Decodes the values that a record has itself, if it has any.
pub(super) fn decode(
    encoding: Encoding,
    bytes: &[u8],
    out: &mut [f32],
    place: &Place,
    id: &TensorId,
) -> Result<(), StoreError> {
    match encoding {
        Encoding::Raw => blocks::read_raw(bytes, out),
        Encoding::Blocks(format) => {
            blocks::decode(format, bytes, out).map_err(|error| damaged_blocks(place, id, &error))?;
        }
        Encoding::Absent | Encoding::Frames => {}
    }
    Ok(())
}

/// The error for blocks that no writer makes, under a checksum that is right.
fn damaged_blocks(place: &Place, id: &TensorId, error: &bitgrain_codec::CodecErr) -> StoreError {
    let (segment, what) = (place.segment.name(), error.to_string());
    StoreError::Damaged { segment, offset: place.offset, id: Some(id.clone()), what }
}

/// Tier, bits and errors of a tensor's own data.
pub(super) fn provenance_of(head: &TensorHead<'_>) -> Provenance {
    provenance(tier_of(head.tier), head.encoding, head.accuracy)
}

fn tier_of(code: u8) -> Tier {
    Tier::of_code(code).unwrap_or(Tier::Absent)
}
