//! `Manifest`: which segments of a store count.

use super::cursor::Cursor;
use super::{SegmentError, VERSION};
use crate::crc::crc32c;

const MAGIC: [u8; 8] = *b"BGMANIF\0";
const WHAT: &str = "manifest";
/// Bytes before the list.
const FIXED: usize = 48;
/// Bytes of a listed segment.
const LISTED: usize = 20;
const CRC: usize = 4;

/// A compacted segment that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactedSegment {
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub len: u64,
    /// Checksum of its index, [`Trailer::index_crc`](super::Trailer::index_crc).
    pub index_crc: u32,
}

/// Which segments of a store count: those listed here, and all log segments from a number on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Manifest {
    /// The store it belongs to.
    pub store: [u8; 16],
    /// Its number: the highest one that is whole counts.
    pub number: u64,
    /// Log segments with this number or a higher one count.
    pub log_from: u64,
    /// Compacted segments that count.
    pub compacted: Vec<CompactedSegment>,
}

impl Manifest {
    /// The manifest as bytes.
    ///
    /// # Errors
    /// [`SegmentError::TooLong`] for a list of more than 2^32 segments.
    pub fn encode(&self) -> Result<Vec<u8>, SegmentError> {
        let len = self.compacted.len();
        let count = u32::try_from(len);
        let count =
            count.map_err(|_| SegmentError::TooLong { what: "a list of segments", len, limit: u32::MAX as usize })?;
        let mut out = Vec::with_capacity(FIXED + len * LISTED + CRC);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&self.store);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.log_from.to_le_bytes());
        for segment in &self.compacted {
            out.extend_from_slice(&segment.number.to_le_bytes());
            out.extend_from_slice(&segment.len.to_le_bytes());
            out.extend_from_slice(&segment.index_crc.to_le_bytes());
        }
        let crc = crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        Ok(out)
    }

    /// Reads the manifest that `bytes` are the whole of.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`], [`SegmentError::Foreign`], [`SegmentError::Checksum`],
    /// [`SegmentError::FutureVersion`], [`SegmentError::Value`], [`SegmentError::Length`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        let mut cursor = Cursor::new(bytes, 0);
        let found = cursor.array(WHAT)?;
        if found != MAGIC {
            return Err(SegmentError::Foreign { what: WHAT, found });
        }
        let needed = (FIXED + CRC) as u64;
        let short = SegmentError::Truncated { what: WHAT, offset: 0, needed, left: bytes.len() as u64 };
        let (signed, sum) = bytes.split_last_chunk::<CRC>().filter(|(signed, _)| signed.len() >= FIXED).ok_or(short)?;
        let (stored, computed) = (u32::from_le_bytes(*sum), crc32c(signed));
        if stored != computed {
            return Err(SegmentError::Checksum { what: "the manifest", offset: 0, stored, computed });
        }
        let found = cursor.u16(WHAT)?;
        if found > VERSION {
            return Err(SegmentError::FutureVersion { what: WHAT, found, known: VERSION });
        }
        if found == 0 || cursor.u16(WHAT)? != 0 {
            return Err(SegmentError::Value { what: "version of the manifest", offset: 8 });
        }
        let count = u64::from(cursor.u32(WHAT)?);
        let (expected, found) = (needed + count * LISTED as u64, bytes.len() as u64);
        if found != expected {
            return Err(SegmentError::Length { what: "the manifest", offset: 0, expected, found });
        }
        Ok(Self {
            store: cursor.array(WHAT)?,
            number: cursor.u64(WHAT)?,
            log_from: cursor.u64(WHAT)?,
            compacted: (0..count).map(|_| CompactedSegment::read(&mut cursor)).collect::<Result<_, _>>()?,
        })
    }
}

impl CompactedSegment {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        Ok(Self { number: cursor.u64(WHAT)?, len: cursor.u64(WHAT)?, index_crc: cursor.u32(WHAT)? })
    }
}
