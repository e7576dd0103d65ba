//! Decoding of records into values, for the current state and for snapshots.
//!
//! | file | content |
//! |---|---|
//! | `mod.rs` | values in a tensor's own record |
//! | `rows.rs` | ranges of rows |
//! | `frames.rs` | frames of a temporal tensor |
//! | `absent.rs` | tensors without data: reconstructed, or zeros |

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
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, blocks, half, record};

/// Reads tensors. Does not count accesses.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// Lookup for the bases of reconstructed tensors.
    pub(super) find: &'a dyn Lookup,
    pub(super) absent: AbsentReads,
}

impl Core {
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { find: self, absent: self.config.absent_reads }
    }
}

impl Reader<'_> {
    /// Reads a tensor into a new vector.
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

    /// Reads a tensor whose record contains values; returns `None` if it does not. Uses the thread pool, so the caller
    /// must not hold a lock.
    pub(super) fn read_own(
        &self,
        place: &Place,
        id: &TensorId,
        out: &mut impl Destination,
    ) -> Result<Option<(Vec<usize>, Provenance)>, StoreError> {
        record::with_buffer(|buffer| {
            let record::Whole { view, body } = record::read(place, Some(id), Check::Together, buffer)?;
            let head = record::into_tensor_head(view, place, id)?;
            // Without data, the shape is not backed by bytes and must not drive an allocation.
            if !has_data(&head) {
                return Ok(None);
            }
            decode(head.encoding, body, out.make_room(head.count())?, place, id)?;
            let provenance = provenance_of(&head);
            Ok(Some((head.shape, provenance)))
        })
    }

    /// Like [`read_own`](Self::read_own), for a small tensor, without parsing its shape; returns `None` if it is not
    /// small. Does not use the thread pool.
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

    /// Returns the shape of a tensor.
    pub(super) fn shape(&self, found: &Found, id: &TensorId) -> Result<Vec<usize>, StoreError> {
        record::with_buffer(|buffer| {
            let view = record::read_head(&found.place, Some(id), buffer)?;
            Ok(record::tensor_head(&view, &found.place, id)?.shape.clone())
        })
    }
}

/// Returns whether a record contains values.
fn has_data(head: &TensorHead<'_>) -> bool {
    matches!(head.encoding, Encoding::Raw | Encoding::Half | Encoding::Blocks(_))
}

/// Decodes the values of a record, if it contains any.
pub(super) fn decode(
    encoding: Encoding,
    bytes: &[u8],
    out: &mut [f32],
    place: &Place,
    id: &TensorId,
) -> Result<(), StoreError> {
    match encoding {
        Encoding::Raw => blocks::read_raw(bytes, out),
        Encoding::Half => half::decode(bytes, out).map_err(|error| damaged_blocks(place, id, &error))?,
        Encoding::Blocks(format) => {
            blocks::decode(format, bytes, out).map_err(|error| damaged_blocks(place, id, &error))?;
        }
        Encoding::Absent | Encoding::Frames => {}
    }
    Ok(())
}

/// Returns the error for invalid values with a valid checksum.
fn damaged_blocks(place: &Place, id: &TensorId, error: &bitgrain_codec::CodecErr) -> StoreError {
    let (segment, what) = (place.segment.name(), error.to_string());
    StoreError::Damaged { segment, offset: place.offset, id: Some(id.clone()), what }
}

/// Returns tier, bits and errors of a tensor's own data.
pub(super) fn provenance_of(head: &TensorHead<'_>) -> Provenance {
    provenance(tier_of(head.tier), head.encoding, head.accuracy)
}

fn tier_of(code: u8) -> Tier {
    Tier::of_code(code).unwrap_or(Tier::Absent)
}
