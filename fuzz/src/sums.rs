//! Corrects checksums, so that the code after the checks is reached. Layouts: `spec/segment.md`.

use bitgrain::formats::crc32c;
use bitgrain::formats::segment::{CHUNK, RecordView, SegmentHeader, Trailer};
use bitgrain::kernels::{self, Backend};

/// Offset of the checksum of a header.
const CRC: usize = 60;

/// Offset of the index's checksum in a trailer, followed by the trailer's own.
const TRAILER_CRCS: [usize; 3] = [16, 20, 24];

/// Corrects the checksum of a manifest: its last four bytes.
pub(crate) fn manifest(bytes: &mut [u8]) {
    let Some((body, sum)) = bytes.split_last_chunk_mut::<4>() else { return };
    *sum = crc32c(body).to_le_bytes();
}

/// Corrects the checksum of a header and returns it: it salts the checksums of the records.
pub(crate) fn header(bytes: &mut [u8; SegmentHeader::LEN]) -> u32 {
    let salt = crc32c(&bytes[..CRC]);
    bytes[CRC..].copy_from_slice(&salt.to_le_bytes());
    salt
}

/// Corrects the checksums of the record at the start of `bytes` and returns its length; `None` if it is incomplete.
pub(crate) fn record(bytes: &mut [u8], salt: u32) -> Option<usize> {
    let needed = RecordView::needed(bytes).ok()?;
    let (head, total) = usize::try_from(needed.head).ok().zip(usize::try_from(needed.total).ok())?;
    let (before, body) = bytes.get_mut(..total)?.split_at_mut(head);
    let table = before.len() - body.len().div_ceil(CHUNK) * 4;
    for (sum, chunk) in before[table..].as_chunks_mut().0.iter_mut().zip(body.chunks(CHUNK)) {
        *sum = crc32c(chunk).to_le_bytes();
    }
    let sum = salted(salt, &before[4..]);
    before[..4].copy_from_slice(&sum.to_le_bytes());
    Some(total)
}

/// Corrects the checksums of the header, of all records before the first incomplete one, and of the index.
pub(crate) fn segment(bytes: &mut [u8]) {
    let Some((head, rest)) = bytes.split_first_chunk_mut() else { return };
    let salt = header(head);
    match index(rest) {
        Some((records, index, trailer)) => {
            repair_records(records, salt);
            let [index_crc, own_crc, end] = TRAILER_CRCS;
            trailer[index_crc..own_crc].copy_from_slice(&salted(salt, index).to_le_bytes());
            let own = salted(salt, &trailer[..own_crc]);
            trailer[own_crc..end].copy_from_slice(&own.to_le_bytes());
        }
        None => repair_records(rest, salt),
    }
}

fn repair_records(mut bytes: &mut [u8], salt: u32) {
    while let Some(len) = record(bytes, salt) {
        bytes = &mut bytes[len..];
    }
}

/// Splits the bytes after a header into records, index and trailer; `None` without a trailer at the end.
fn index(bytes: &mut [u8]) -> Option<(&mut [u8], &[u8], &mut [u8; Trailer::LEN])> {
    let trailer = bytes.last_chunk::<{ Trailer::LEN }>()?;
    let start = u64::from_le_bytes(*trailer.first_chunk()?).checked_sub(SegmentHeader::LEN as u64)?;
    let start = usize::try_from(start).ok().filter(|start| *start <= bytes.len() - Trailer::LEN)?;
    let (records, rest) = bytes.split_at_mut(start);
    let (index, trailer) = rest.split_last_chunk_mut()?;
    Some((records, index, trailer))
}

pub(crate) fn salted(salt: u32, bytes: &[u8]) -> u32 {
    kernels::crc32c(Backend::best(), salt, bytes)
}
