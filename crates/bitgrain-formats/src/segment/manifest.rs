//! `Manifest`: which segments of a store count.

use super::cursor::Cursor;
use super::{SegmentError, VERSION};
use crate::crc::crc32c;

const MAGIC: [u8; 8] = *b"BGMANIF\0";
const WHAT: &str = "manifest";
/// Bytes before the list.
const FIXED: usize = 68;
/// Bytes of a listed segment.
const LISTED: usize = 20;
/// State of a log that may have been written to.
const OPEN: u16 = 0;
/// State of a log that was closed.
const CLOSED: u16 = 1;
const CRC: usize = 4;

/// A sealed segment, as a manifest knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SealedSegment {
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub len: u64,
    /// Checksum of its index, [`Trailer::index_crc`](super::Trailer::index_crc).
    pub index_crc: u32,
}

/// How the log of a store ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LogEnd {
    /// Anyhow: somebody may have written to it since.
    #[default]
    Open,
    /// With this segment, which is sealed; without a segment if there is none. Nobody has written to the store since.
    Closed(Option<SealedSegment>),
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
    /// How the log ends.
    pub log_end: LogEnd,
    /// Compacted segments that count.
    pub compacted: Vec<SealedSegment>,
}

impl Manifest {
    /// The manifest as bytes.
    ///
    /// # Errors
    /// [`SegmentError::TooLong`] for a list of more than 2^32 segments, [`SegmentError::Unwritable`] for a last log segment
    /// that does not count.
    pub fn encode(&self) -> Result<Vec<u8>, SegmentError> {
        let len = self.compacted.len();
        let count = u32::try_from(len);
        let count =
            count.map_err(|_| SegmentError::TooLong { what: "a list of segments", len, limit: u32::MAX as usize })?;
        let (state, last) = match self.log_end {
            LogEnd::Open => (OPEN, NONE),
            LogEnd::Closed(None) => (CLOSED, NONE),
            LogEnd::Closed(Some(last)) if last.number != 0 && last.number >= self.log_from => (CLOSED, last),
            LogEnd::Closed(Some(_)) => {
                return Err(SegmentError::Unwritable { what: "the last log segment", must: "one that counts" });
            }
        };
        let mut out = Vec::with_capacity(FIXED + len * LISTED + CRC);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&state.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&self.store);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.log_from.to_le_bytes());
        [last].iter().chain(&self.compacted).for_each(|segment| segment.write(&mut out));
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
        let state = cursor.u16(WHAT)?;
        if found == 0 || state > CLOSED {
            return Err(SegmentError::Value { what: "version or state of the manifest", offset: 8 });
        }
        let count = u64::from(cursor.u32(WHAT)?);
        let (expected, found) = (needed + count * LISTED as u64, bytes.len() as u64);
        if found != expected {
            return Err(SegmentError::Length { what: "the manifest", offset: 0, expected, found });
        }
        let (store, number, log_from) = (cursor.array(WHAT)?, cursor.u64(WHAT)?, cursor.u64(WHAT)?);
        let offset = cursor.offset();
        let last = SealedSegment::read(&mut cursor)?;
        let log_end = match (state, last) {
            (OPEN, NONE) => LogEnd::Open,
            (CLOSED, NONE) => LogEnd::Closed(None),
            (CLOSED, last) if last.number != 0 && last.number >= log_from => LogEnd::Closed(Some(last)),
            _ => return Err(SegmentError::Value { what: "last log segment", offset }),
        };
        let compacted = (0..count).map(|_| SealedSegment::read(&mut cursor)).collect::<Result<_, _>>()?;
        Ok(Self { store, number, log_from, log_end, compacted })
    }
}

/// What stands where there is no segment.
const NONE: SealedSegment = SealedSegment { number: 0, len: 0, index_crc: 0 };

impl SealedSegment {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
        out.extend_from_slice(&self.index_crc.to_le_bytes());
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        Ok(Self { number: cursor.u64(WHAT)?, len: cursor.u64(WHAT)?, index_crc: cursor.u32(WHAT)? })
    }
}
