//! From records to values, for the store as it is now and for a view of it.

use std::ops::Range;

use bitgrain_formats::segment::{Encoding, RecordView, TensorHead};

use super::Core;
use super::encode::provenance;
use super::get::Tensor;
use super::view::Found;
use crate::read::Check;
use crate::segment::Place;
use crate::{AbsentReads, Provenance, StoreError, TensorId, Tier, body, read};

/// Reads tensors. Does not count accesses.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// Finds the tensors that others are reconstructed from.
    pub(super) find: &'a dyn Lookup,
    pub(super) absent: AbsentReads,
}

/// Something that knows where tensors are.
pub(super) trait Lookup {
    fn lookup(&self, id: &TensorId) -> Option<Found>;
}

impl Lookup for Core {
    fn lookup(&self, id: &TensorId) -> Option<Found> {
        self.find(&id.key())
    }
}

impl Core {
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { find: self, absent: self.config.absent_reads }
    }
}

impl Reader<'_> {
    pub(super) fn get(&self, found: &Found, id: &TensorId) -> Result<Tensor, StoreError> {
        if let Some(tensor) = self.get_own(&found.place, id)? {
            return Ok(tensor);
        }
        let shape = self.shape(found, id)?;
        let (values, provenance) = self.made(found, id, &shape)?;
        Ok(Tensor { shape, values, provenance })
    }

    pub(super) fn get_into(&self, found: &Found, id: &TensorId, out: &mut [f32]) -> Result<Provenance, StoreError> {
        match self.get_own_into(&found.place, id, out)? {
            Some(provenance) => Ok(provenance),
            None => self.made_into(found, id, &self.shape(found, id)?, out),
        }
    }

    /// Reads a tensor whose record has values; none if it has not.
    pub(super) fn get_own(&self, place: &Place, id: &TensorId) -> Result<Option<Tensor>, StoreError> {
        let read = self.decode(place, id, |count| Ok(vec![0.0; count]))?;
        Ok(read.map(|(shape, values, provenance)| Tensor { shape, values, provenance }))
    }

    /// As [`get_own`](Self::get_own), into memory that is there.
    pub(super) fn get_own_into(
        &self,
        place: &Place,
        id: &TensorId,
        out: &mut [f32],
    ) -> Result<Option<Provenance>, StoreError> {
        let small = self.get_small_into(place, id, out)?;
        if small.is_some() {
            return Ok(small);
        }
        let got = out.len();
        let room =
            |expected: usize| if expected == got { Ok(out) } else { Err(StoreError::ShapeMismatch { expected, got }) };
        Ok(self.decode(place, id, room)?.map(|(_, _, provenance)| provenance))
    }

    /// As [`get_own_into`](Self::get_own_into), for a small tensor; none if it is not. Waits for no other thread.
    pub(super) fn get_small_into(
        &self,
        place: &Place,
        id: &TensorId,
        out: &mut [f32],
    ) -> Result<Option<Provenance>, StoreError> {
        let got = out.len();
        read::with_buffer(|buffer| {
            let Some(values) = read::values(place, id, buffer)? else { return Ok(None) };
            let expected = values.count;
            if expected != got {
                return Err(StoreError::ShapeMismatch { expected, got });
            }
            decode_values(values.encoding, values.body, out, place, id)?;
            Ok(Some(provenance(tier_of(values.tier), values.encoding, values.accuracy)))
        })
    }

    /// Reads the values of a record into what `room` makes of their number, with shape and origin; none if it has no values.
    /// Uses several cores: nobody who calls this holds a lock.
    fn decode<M: AsMut<[f32]>>(
        &self,
        place: &Place,
        id: &TensorId,
        room: impl FnOnce(usize) -> Result<M, StoreError>,
    ) -> Result<Option<(Vec<usize>, M, Provenance)>, StoreError> {
        read::with_buffer(|buffer| {
            let read::Whole { view, body } = read::record(place, Some(id), Check::Together, buffer)?;
            let head = read::into_tensor(view, place, id)?;
            // Only values say that there are as many of them as the shape has.
            if !has_data(&head) {
                return Ok(None);
            }
            let mut out = room(head.count())?;
            decode_data(&head, body, out.as_mut(), place, id)?;
            let provenance = provenance_of(&head);
            Ok(Some((head.shape, out, provenance)))
        })
    }

    /// Reads rows of a tensor.
    pub(super) fn get_rows(&self, found: &Found, id: &TensorId, rows: Range<usize>) -> Result<Tensor, StoreError> {
        let place = &found.place;
        let part = read::with_buffer(|buffer| {
            let (view, body) = read::head_or_all(place, Some(id), buffer)?;
            let head = read::tensor_of(&view, place, id)?;
            let (values, shape) = values_of_rows(&head.shape, &rows)?;
            let mut out = vec![0.0; if has_data(head) { values.len() } else { 0 }];
            let read = self.decode_part(head, (&view, body), place, id, values.clone(), &mut out)?;
            Ok::<_, StoreError>((shape, values, out, read.then(|| provenance_of(head))))
        })?;
        match part {
            (shape, _, values, Some(provenance)) => Ok(Tensor { shape, values, provenance }),
            // Reconstructed, or a frame: all of it is needed for a part.
            (shape, range, _, None) => {
                let whole = self.get(found, id)?;
                Ok(Tensor { shape, values: whole.values[range].to_vec(), provenance: whole.provenance })
            }
        }
    }

    /// Reads the values in `range`, from the body if it is there; false if the record does not have them.
    fn decode_part(
        &self,
        head: &TensorHead<'_>,
        (view, body): (&RecordView<'_>, Option<&[u8]>),
        place: &Place,
        id: &TensorId,
        range: Range<usize>,
        out: &mut [f32],
    ) -> Result<bool, StoreError> {
        match head.encoding {
            Encoding::Absent | Encoding::Frames => return Ok(false),
            _ if range.is_empty() => {}
            Encoding::Raw => read::with_buffer(|chunks| {
                let bytes = 4 * range.start..4 * range.end;
                let (start, read) = match body {
                    Some(body) => (0, body),
                    None => read::part(place, view, id, bytes.clone(), chunks)?,
                };
                body::unraw(&read[bytes.start - start..], out);
                Ok::<_, StoreError>(())
            })?,
            Encoding::Blocks(format) => read::with_buffer(|chunks| {
                // The blocks that the range touches are a tensor by themselves.
                let (block, stride) = (format.block_len().get(), format.block_bytes());
                let first = range.start / block;
                let values = first * block..range.end.next_multiple_of(block).min(head.count());
                let bytes = first * stride..first * stride + format.encoded_len(values.len());
                let (start, read) = match body {
                    Some(body) => (0, body),
                    None => read::part(place, view, id, bytes.clone(), chunks)?,
                };
                let range = range.start - values.start..range.end - values.start;
                let blocks = &read[bytes.start - start..];
                let decoded = format.decode_range(blocks, values.len(), range, out);
                decoded.map_err(|error| damaged_blocks(place, id, &error.shifted(values.start)))
            })?,
        }
        Ok(true)
    }

    /// Shape of a tensor.
    pub(super) fn shape(&self, found: &Found, id: &TensorId) -> Result<Vec<usize>, StoreError> {
        read::with_buffer(|buffer| {
            let view = read::head(&found.place, Some(id), buffer)?;
            Ok(read::tensor_of(&view, &found.place, id)?.shape.clone())
        })
    }
}

/// True if a record has values itself: as many as its body has bytes for.
fn has_data(head: &TensorHead<'_>) -> bool {
    matches!(head.encoding, Encoding::Raw | Encoding::Blocks(_))
}

/// Decodes the values that a record has itself, if it has any.
pub(super) fn decode_data(
    head: &TensorHead<'_>,
    bytes: &[u8],
    out: &mut [f32],
    place: &Place,
    id: &TensorId,
) -> Result<(), StoreError> {
    decode_values(head.encoding, bytes, out, place, id)
}

fn decode_values(
    encoding: Encoding,
    bytes: &[u8],
    out: &mut [f32],
    place: &Place,
    id: &TensorId,
) -> Result<(), StoreError> {
    match encoding {
        Encoding::Raw => body::unraw(bytes, out),
        Encoding::Blocks(format) => {
            body::decode(format, bytes, out).map_err(|error| damaged_blocks(place, id, &error))?;
        }
        Encoding::Absent | Encoding::Frames => {}
    }
    Ok(())
}

/// Blocks that no writer makes, under a checksum that is right.
fn damaged_blocks(place: &Place, id: &TensorId, error: &bitgrain_codec::CodecErr) -> StoreError {
    let (segment, what) = (place.segment.name(), error.to_string());
    StoreError::Damaged { segment, offset: place.offset, id: Some(id.clone()), what }
}

/// What is known of a tensor's own data.
pub(super) fn provenance_of(head: &TensorHead<'_>) -> Provenance {
    provenance(tier_of(head.tier), head.encoding, head.accuracy)
}

fn tier_of(code: u8) -> Tier {
    Tier::of_code(code).unwrap_or(Tier::Absent)
}

/// The values that are in some rows, and the shape of these.
fn values_of_rows(shape: &[usize], rows: &Range<usize>) -> Result<(Range<usize>, Vec<usize>), StoreError> {
    let (count, inner) = match shape.split_first() {
        Some((rows, inner)) => (*rows, inner),
        None => (1, shape),
    };
    if rows.start > rows.end || rows.end > count {
        return Err(StoreError::RowsOutOfRange { start: rows.start, end: rows.end, rows: count });
    }
    // Not above the values of the whole tensor, which fit in memory.
    let row: usize = if inner.contains(&0) { 0 } else { inner.iter().product() };
    let mut shape = shape.to_vec();
    shape.first_mut().into_iter().for_each(|axis| *axis = rows.len());
    Ok((rows.start * row..rows.end * row, shape))
}
