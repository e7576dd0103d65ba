//! Reading of records: a complete record with one read, or only its head and the chunks needed. Mapped files are read
//! in place, others are copied to a buffer.

use std::cell::RefCell;
use std::ops::Range;

use bitgrain_formats::segment::{CHUNK, Content, FrameHead, RecordView, SegmentError, TensorHead, ValuesView};
use rayon::prelude::*;

use crate::segment::Place;
use crate::{StoreError, TensorId};

/// Bytes to read for a head of unknown length; most heads are shorter.
const HEAD_GUESS: usize = 1024;
/// Largest buffer in bytes that a thread keeps for its next read.
const KEPT: usize = 16 << 20;
/// Number of buffers a thread keeps: one for a head, one for part of a body.
const BUFFERS: usize = 2;
/// Minimum size in bytes of a body whose checksums are computed in parallel.
const PARALLEL: usize = 1 << 20;

thread_local! {
    static KEPT_BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with a read buffer of this thread. Calls may be nested.
pub(crate) fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    // The buffer is taken out of the thread-local, because `work` may wait for other threads in the thread pool and run
    // one of their tasks meanwhile, which also needs a buffer.
    let mut buffer = KEPT_BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = work(&mut buffer);
    if buffer.len() <= KEPT {
        // Last in, first out: heads and bodies each get back the buffer of their size.
        KEPT_BUFFERS.with_borrow_mut(|kept| {
            if kept.len() < BUFFERS {
                kept.push(buffer)
            }
        });
    }
    result
}

/// A complete record in memory.
pub(crate) struct Whole<'a> {
    pub(crate) view: RecordView<'a>,
    pub(crate) body: &'a [u8],
}

/// Thread use when verifying the checksums of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// On this thread only, because it may hold locks. A thread that waits for the thread pool may run other tasks,
    /// which may need the same locks.
    Alone,
    /// In parallel if the body is large.
    Together,
}

/// Reads a record including its body.
pub(crate) fn read<'b>(
    place: &'b Place,
    id: Option<&TensorId>,
    check: Check,
    buffer: &'b mut Vec<u8>,
) -> Result<Whole<'b>, StoreError> {
    let bytes = map_or_copy(place, 0, place.memory_len()?, buffer)?;
    whole(place, id, check, bytes)
}

/// Like [`read`], but always copies: during verification and compaction, an unreadable disk must be an error and not a
/// SIGBUS.
pub(crate) fn copy<'b>(place: &Place, id: Option<&TensorId>, buffer: &'b mut Vec<u8>) -> Result<Whole<'b>, StoreError> {
    let bytes = copy_bytes(place, 0, place.memory_len()?, buffer)?;
    whole(place, id, Check::Alone, bytes)
}

/// Parses a record from its bytes.
fn whole<'b>(place: &Place, id: Option<&TensorId>, check: Check, bytes: &'b [u8]) -> Result<Whole<'b>, StoreError> {
    let damaged = |error: SegmentError| place.segment.damaged(place.offset, id, &error);
    let view =
        RecordView::parse_salted(bytes, place.offset, &place.segment.header, place.segment.salt).map_err(damaged)?;
    // Compaction copies the record's own sequence number, and the order of writes follows it: an index that states another
    // one would make a store that cannot be opened again.
    if view.head.stamp.sequence != place.sequence {
        let what = "sequence number, which differs from the index,";
        return Err(damaged(SegmentError::Value { what, offset: place.offset }));
    }
    let body = view.body(bytes).map_err(damaged)?;
    match check {
        Check::Alone => view.check_body(body).map_err(damaged)?,
        Check::Together => check_body(&view, body).map_err(damaged)?,
    }
    Ok(Whole { view, body })
}

/// Reads the values of a small tensor; returns `None` if the record is large or is not a plain tensor.
pub(crate) fn read_values<'b>(
    place: &'b Place,
    id: &TensorId,
    buffer: &'b mut Vec<u8>,
) -> Result<Option<ValuesView<'b>>, StoreError> {
    let damaged = |error: SegmentError| place.segment.damaged(place.offset, Some(id), &error);
    let Some(len) = usize::try_from(place.len).ok().filter(|len| *len < PARALLEL) else { return Ok(None) };
    let bytes = map_or_copy(place, 0, len, buffer)?;
    let values = ValuesView::parse(bytes, place.offset, place.segment.salt, id.as_id()).map_err(damaged)?;
    if let Some(values) = values {
        values.check().map_err(damaged)?;
    }
    Ok(values)
}

/// Reads the head of a record. [`read_part`] reads the body.
pub(crate) fn read_head<'b>(
    place: &'b Place,
    id: Option<&TensorId>,
    buffer: &'b mut Vec<u8>,
) -> Result<RecordView<'b>, StoreError> {
    let damaged = |error: SegmentError| place.segment.damaged(place.offset, id, &error);
    let len = place.memory_len()?;
    let guess = len.min(HEAD_GUESS);
    let needed = RecordView::needed(map_or_copy(place, 0, guess, buffer)?).map_err(damaged)?;
    // The parser rejects a head that is longer than its record.
    let needed = usize::try_from(needed.head).map_or(len, |needed| needed.min(len));
    let bytes = match place.segment.mapped(place.offset, needed.max(guess)) {
        Some(bytes) => bytes,
        None if needed > guess => copy_bytes(place, 0, needed, buffer)?,
        None => &buffer[..guess],
    };
    RecordView::parse_salted(bytes, place.offset, &place.segment.header, place.segment.salt).map_err(damaged)
}

/// Maximum size in bytes of a record that is read with one call: for so few bytes, a second system call costs more than
/// copying them.
const AT_ONCE: u64 = CHUNK as u64;

/// Reads the head of a record, and the body too if it is small.
pub(crate) fn read_head_or_all<'b>(
    place: &'b Place,
    id: Option<&TensorId>,
    buffer: &'b mut Vec<u8>,
) -> Result<(RecordView<'b>, Option<&'b [u8]>), StoreError> {
    if place.len > AT_ONCE {
        return Ok((read_head(place, id, buffer)?, None));
    }
    let Whole { view, body } = read(place, id, Check::Alone, buffer)?;
    Ok((view, Some(body)))
}

/// Reads part of a body, extended to whole chunks; returns the offset in the body of the first byte read.
pub(crate) fn read_part<'b>(
    place: &'b Place,
    view: &RecordView<'_>,
    id: &TensorId,
    part: Range<usize>,
    buffer: &'b mut Vec<u8>,
) -> Result<(usize, &'b [u8]), StoreError> {
    let chunks = view.chunks_of(part);
    let bytes = map_or_copy(place, (view.head_len + chunks.start) as u64, chunks.len(), buffer)?;
    let checked = view.check_chunks(chunks.start, bytes);
    checked.map_err(|error| place.segment.damaged(place.offset, Some(id), &error))?;
    Ok((chunks.start, bytes))
}

/// Like [`tensor_head`], but consumes the view.
pub(crate) fn into_tensor_head<'a>(
    view: RecordView<'a>,
    place: &Place,
    id: &TensorId,
) -> Result<TensorHead<'a>, StoreError> {
    match view.head.content {
        Content::Tensor(found, head) if found == id.as_id() => Ok(head),
        _ => Err(other_record(place, id)),
    }
}

/// Returns the head of a record that must be a tensor.
pub(crate) fn tensor_head<'v, 'a>(
    view: &'v RecordView<'a>,
    place: &Place,
    id: &TensorId,
) -> Result<&'v TensorHead<'a>, StoreError> {
    match &view.head.content {
        Content::Tensor(found, head) if *found == id.as_id() => Ok(head),
        _ => Err(other_record(place, id)),
    }
}

/// Returns the head of a record that must be a frame.
pub(crate) fn frame_head<'v>(
    view: &'v RecordView<'_>,
    place: &Place,
    id: &TensorId,
) -> Result<&'v FrameHead, StoreError> {
    match &view.head.content {
        Content::Frame(found, head) if *found == id.as_id() => Ok(head),
        _ => Err(other_record(place, id)),
    }
}

fn other_record(place: &Place, id: &TensorId) -> StoreError {
    let what = "the record does not match its index entry".into();
    StoreError::Damaged { segment: place.segment.name(), offset: place.offset, id: Some(id.clone()), what }
}

/// Verifies the checksums of all chunks, in parallel if the body is large.
fn check_body(view: &RecordView<'_>, body: &[u8]) -> Result<(), SegmentError> {
    if body.len() < PARALLEL {
        return view.check_body(body);
    }
    let pieces = body.par_chunks(8 * CHUNK).enumerate();
    let checked: Vec<_> = pieces.map(|(i, bytes)| view.check_chunks(i * 8 * CHUNK, bytes)).collect();
    checked.into_iter().collect()
}

/// Returns `len` bytes of a record from `start`: mapped if possible, otherwise copied to `buffer`.
fn map_or_copy<'b>(place: &'b Place, start: u64, len: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], StoreError> {
    match place.segment.mapped(place.offset.saturating_add(start), len) {
        Some(bytes) => Ok(bytes),
        None => copy_bytes(place, start, len, buffer),
    }
}

/// Copies `len` bytes of a record from `start` to the front of `buffer`.
fn copy_bytes<'b>(place: &Place, start: u64, len: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], StoreError> {
    let from = place.offset.saturating_add(start);
    if !place.segment.has(from, len) {
        let left = place.segment.len().saturating_sub(from);
        let error = SegmentError::Truncated { what: "a record", offset: place.offset, needed: len as u64, left };
        return Err(place.segment.damaged(place.offset, None, &error));
    }
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    let bytes = &mut buffer[..len];
    place.segment.read(from, bytes)?;
    Ok(bytes)
}
