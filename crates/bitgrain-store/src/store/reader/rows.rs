//! Reading of row ranges: only the blocks that contain them.

use std::ops::Range;

use bitgrain_formats::segment::{Encoding, RecordView, TensorHead};

use super::{Reader, damaged_blocks, has_data, provenance_of};
use crate::segment::Place;
use crate::store::get::StoredTensor;
use crate::store::lookup::Found;
use crate::{StoreError, TensorId, blocks, half, record};

impl Reader<'_> {
    /// Reads a range of rows of a tensor.
    pub(in crate::store) fn get_rows(
        &self,
        found: &Found,
        id: &TensorId,
        rows: Range<usize>,
    ) -> Result<StoredTensor, StoreError> {
        let place = &found.place;
        let part = record::with_buffer(|buffer| {
            let (view, body) = record::read_head_or_all(place, Some(id), buffer)?;
            let head = record::tensor_head(&view, place, id)?;
            let (range, shape) = values_of_rows(&head.shape, &rows)?;
            if !has_data(head) {
                return Ok((shape, range, None));
            }
            let mut values = vec![0.0; range.len()];
            decode_range(head, (&view, body), place, id, range.clone(), &mut values)?;
            Ok::<_, StoreError>((shape, range, Some((values, provenance_of(head)))))
        })?;
        match part {
            (shape, _, Some((values, provenance))) => Ok(StoredTensor { shape, values, provenance }),
            // A reconstruction or a frame must be decoded completely.
            (shape, range, None) => {
                let whole = self.get(found, id)?;
                Ok(StoredTensor { shape, values: whole.values[range].to_vec(), provenance: whole.provenance })
            }
        }
    }
}

/// Decodes the values in `range`, from the body if it was read, otherwise from the chunks that contain them.
fn decode_range(
    head: &TensorHead<'_>,
    (view, body): (&RecordView<'_>, Option<&[u8]>),
    place: &Place,
    id: &TensorId,
    range: Range<usize>,
    out: &mut [f32],
) -> Result<(), StoreError> {
    if range.is_empty() {
        return Ok(());
    }
    // The blocks that overlap the range can be decoded on their own.
    let (values, bytes) = match head.encoding {
        Encoding::Absent | Encoding::Frames => return Ok(()),
        Encoding::Raw => (range.clone(), 4 * range.start..4 * range.end),
        Encoding::Half => (range.clone(), 2 * range.start..2 * range.end),
        Encoding::Blocks(format) => {
            let first = range.start / format.block_len().get();
            let start = first * format.block_len().get();
            let values = start..range.end.next_multiple_of(format.block_len().get()).min(head.count());
            let start = first * format.block_bytes();
            let bytes = start..start + format.encoded_len(values.len());
            (values, bytes)
        }
    };
    record::with_buffer(|chunks| {
        let (start, read) = match body {
            Some(body) => (0, body),
            None => record::read_part(place, view, id, bytes.clone(), chunks)?,
        };
        let stored = &read[bytes.start - start..];
        if let Encoding::Blocks(format) = head.encoding {
            let within = range.start - values.start..range.end - values.start;
            let decoded = format.decode_range(stored, values.len(), within, out);
            return decoded.map_err(|error| damaged_blocks(place, id, &error.shifted(values.start)));
        }
        if head.encoding == Encoding::Half {
            let decoded = half::decode(stored, out);
            return decoded.map_err(|error| damaged_blocks(place, id, &error.shifted(range.start)));
        }
        blocks::read_raw(stored, out);
        Ok(())
    })
}

/// Returns the range of values in these rows, and the shape of the result.
fn values_of_rows(shape: &[usize], rows: &Range<usize>) -> Result<(Range<usize>, Vec<usize>), StoreError> {
    let (count, inner) = match shape.split_first() {
        Some((rows, inner)) => (*rows, inner),
        None => (1, shape),
    };
    if rows.start > rows.end || rows.end > count {
        return Err(StoreError::RowsOutOfRange { start: rows.start, end: rows.end, rows: count });
    }
    // Cannot overflow: at most the number of values of the tensor, which fit in memory.
    let row: usize = if inner.contains(&0) { 0 } else { inner.iter().product() };
    let mut shape = shape.to_vec();
    shape.first_mut().into_iter().for_each(|axis| *axis = rows.len());
    Ok((rows.start * row..rows.end * row, shape))
}
