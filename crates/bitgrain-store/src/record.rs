//! Records from segments: whole with one read, or the head and the chunks that are needed. Where the file is mapped they are
//! looked at where they lie, and elsewhere copied to a buffer.

use std::cell::RefCell;
use std::ops::Range;

use bitgrain_formats::segment::{CHUNK, Content, FrameHead, RecordView, SegmentError, TensorHead, ValuesView};
use rayon::prelude::*;

use crate::segment::Place;
use crate::{StoreError, TensorId};

/// Bytes that are read in the hope that a head is no longer.
const HEAD_GUESS: usize = 1024;
/// Bytes of a buffer that a thread keeps for its next read.
const KEPT: usize = 16 << 20;
/// Buffers that a thread keeps: one for a head, one for a part of the body.
const BUFFERS: usize = 2;
/// Bytes of a body from which its checksums go to several cores.
const PARALLEL: usize = 1 << 20;

thread_local! {
    static KEPT_BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with a buffer that this thread reads into. `work` may ask for another one.
pub(crate) fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    // Taken out, as `work` may wait for other threads and do some of their work, which reads as well.
    let mut buffer = KEPT_BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = work(&mut buffer);
    if buffer.len() <= KEPT {
        // The last one to be kept is the next to be taken: so heads and bodies each find theirs.
        KEPT_BUFFERS.with_borrow_mut(|kept| {
            if kept.len() < BUFFERS {
                kept.push(buffer)
            }
        });
    }
    result
}

/// A record in memory.
pub(crate) struct Whole<'a> {
    pub(crate) view: RecordView<'a>,
    pub(crate) body: &'a [u8],
}

/// Whether the checksums of a body are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// By this thread alone: it may hold locks. (Whoever waits for other threads may get their work to do, which may want
    /// the same locks.)
    Alone,
    /// On several cores if they are many.
    Together,
}

/// Reads a record with its body.
pub(crate) fn read<'b>(
    place: &'b Place,
    id: Option<&TensorId>,
    check: Check,
    buffer: &'b mut Vec<u8>,
) -> Result<Whole<'b>, StoreError> {
    let bytes = map_or_copy(place, 0, place.memory_len()?, buffer)?;
    whole(place, id, check, bytes)
}

/// As [`read`], always copied: a disk that cannot read is then an error for whoever looks for damage or moves records, and
/// not the end of the process.
pub(crate) fn copy<'b>(place: &Place, id: Option<&TensorId>, buffer: &'b mut Vec<u8>) -> Result<Whole<'b>, StoreError> {
    let bytes = copy_bytes(place, 0, place.memory_len()?, buffer)?;
    whole(place, id, Check::Alone, bytes)
}

/// A record in the bytes at its place.
fn whole<'b>(place: &Place, id: Option<&TensorId>, check: Check, bytes: &'b [u8]) -> Result<Whole<'b>, StoreError> {
    let damaged = |error: SegmentError| place.segment.damaged(place.offset, id, &error);
    let view =
        RecordView::parse_salted(bytes, place.offset, &place.segment.header, place.segment.salt).map_err(damaged)?;
    let body = view.body(bytes).map_err(damaged)?;
    match check {
        Check::Alone => view.check_body(body).map_err(damaged)?,
        Check::Together => check_body(&view, body).map_err(damaged)?,
    }
    Ok(Whole { view, body })
}

/// Reads the values of a small tensor; none if they are many, or its record has none or more.
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

/// Reads the head of a record. The body is read by [`read_part`].
pub(crate) fn read_head<'b>(
    place: &'b Place,
    id: Option<&TensorId>,
    buffer: &'b mut Vec<u8>,
) -> Result<RecordView<'b>, StoreError> {
    let damaged = |error: SegmentError| place.segment.damaged(place.offset, id, &error);
    let len = place.memory_len()?;
    let guess = len.min(HEAD_GUESS);
    let needed = RecordView::needed(map_or_copy(place, 0, guess, buffer)?).map_err(damaged)?;
    // A head that is longer than its record is refused by the parser.
    let needed = usize::try_from(needed.head).map_or(len, |needed| needed.min(len));
    let bytes = match place.segment.mapped(place.offset, needed.max(guess)) {
        Some(bytes) => bytes,
        None if needed > guess => copy_bytes(place, 0, needed, buffer)?,
        None => &buffer[..guess],
    };
    RecordView::parse_salted(bytes, place.offset, &place.segment.header, place.segment.salt).map_err(damaged)
}

/// Bytes of a record that are read at once rather than head and part one after the other: the system takes longer to answer
/// than to copy so few.
const AT_ONCE: u64 = CHUNK as u64;

/// Reads the head of a record, and its body too if it is small.
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

/// Reads a part of a body, with all of the chunks it touches; returns where in the body the bytes begin.
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

/// As [`tensor_head`], for whoever needs nothing else of the record.
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

/// The head of a tensor, of a record that must be one.
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

/// The head of a frame, of a record that must be one.
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
    let what = "the record is about something else than the index says".into();
    StoreError::Damaged { segment: place.segment.name(), offset: place.offset, id: Some(id.clone()), what }
}

/// Checks all chunks, on several cores if they are many.
fn check_body(view: &RecordView<'_>, body: &[u8]) -> Result<(), SegmentError> {
    if body.len() < PARALLEL {
        return view.check_body(body);
    }
    let pieces = body.par_chunks(8 * CHUNK).enumerate();
    let checked: Vec<_> = pieces.map(|(i, bytes)| view.check_chunks(i * 8 * CHUNK, bytes)).collect();
    checked.into_iter().collect()
}

/// `len` bytes of a record from `start` on: where they are mapped, or in `buffer`.
fn map_or_copy<'b>(place: &'b Place, start: u64, len: usize, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], StoreError> {
    match place.segment.mapped(place.offset.saturating_add(start), len) {
        Some(bytes) => Ok(bytes),
        None => copy_bytes(place, start, len, buffer),
    }
}

/// Fills the beginning of `buffer` with `len` bytes of a record from `start` on.
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
