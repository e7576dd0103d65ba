//! Encoding of shapes.

use super::cursor::Cursor;
use super::{MAX_RANK, SegmentError, put};

/// Returns the number of values; `usize::MAX` for shapes that cannot be written.
pub(super) fn count(shape: &[usize]) -> usize {
    match largest_product(shape) {
        Some(_) if shape.contains(&0) => 0,
        Some(count) => count,
        None => usize::MAX,
    }
}

/// Returns the product of the nonzero axes, so that no order of multiplication can overflow; `None` if that many f32 do
/// not fit in memory.
fn largest_product(shape: &[usize]) -> Option<usize> {
    let product =
        shape.iter().filter(|&&axis| axis != 0).try_fold(1usize, |product, &axis| product.checked_mul(axis))?;
    product.checked_mul(4).and_then(|bytes| isize::try_from(bytes).ok()).map(|_| product)
}

pub(super) fn write(shape: &[usize], out: &mut Vec<u8>) -> Result<(), SegmentError> {
    if shape.len() > MAX_RANK {
        return Err(SegmentError::Unwritable { what: "a shape", must: "of at most 64 axes" });
    }
    if largest_product(shape).is_none() {
        return Err(SegmentError::Unwritable { what: "a shape", must: "of values that fit in memory" });
    }
    put::varint(out, shape.len() as u64);
    shape.iter().for_each(|&axis| put::varint(out, axis as u64));
    Ok(())
}

/// Reads a shape and returns its number of values.
pub(super) fn read_count(cursor: &mut Cursor<'_>) -> Result<usize, SegmentError> {
    let offset = cursor.offset();
    let axes = cursor.size("number of axes")?;
    if axes > MAX_RANK {
        return Err(SegmentError::Value { what: "number of axes", offset });
    }
    let (mut product, mut empty) = (Some(1usize), false);
    for _ in 0..axes {
        let axis = cursor.size("length of an axis")?;
        empty |= axis == 0;
        product = product.and_then(|product| product.checked_mul(axis.max(1)));
    }
    let product = product.filter(|count| count.checked_mul(4).is_some_and(|bytes| isize::try_from(bytes).is_ok()));
    let product = product.ok_or(SegmentError::Value { what: "number of values", offset })?;
    Ok(if empty { 0 } else { product })
}

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Vec<usize>, SegmentError> {
    let offset = cursor.offset();
    let axes = cursor.size("number of axes")?;
    if axes > MAX_RANK.min(cursor.left()) {
        return Err(SegmentError::Value { what: "number of axes", offset });
    }
    let shape = (0..axes).map(|_| cursor.size("length of an axis")).collect::<Result<Vec<_>, _>>()?;
    largest_product(&shape).ok_or(SegmentError::Value { what: "number of values", offset })?;
    Ok(shape)
}
