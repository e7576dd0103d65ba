//! `Manifest`: list of the segments of a store.

use super::SegmentError;
use super::cursor::Cursor;
use super::signed::{CRC, SignedFile};

const WHAT: &str = "manifest";
/// Size in bytes of the part before the list.
const FIXED: usize = 68;
const FILE: SignedFile = SignedFile {
    magic: *b"BGMANIF\0",
    what: WHAT,
    whole: "the manifest",
    start: "manifest version or state",
    fixed: FIXED,
    last_state: CLOSED,
};
/// Size in bytes of a list entry.
const LISTED: usize = 20;
/// State of a log that may have been written to.
const OPEN: u16 = 0;
/// State of a log that was closed.
const CLOSED: u16 = 1;

/// Manifest entry of a sealed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SealedSegment {
    /// File number.
    pub number: u64,
    /// Length of the file in bytes.
    pub len: u64,
    /// Checksum of its index, [`Trailer::index_crc`](super::Trailer::index_crc).
    pub index_crc: u32,
}

/// End of the log of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LogEnd {
    /// Unknown: the log may have been written to since.
    #[default]
    Open,
    /// This sealed segment, or `None` if the log is empty. The store was not written to since.
    Closed(Option<SealedSegment>),
}

/// Segments of a store: those listed here, and all log segments from a number on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Manifest {
    /// Id of the store.
    pub store: [u8; 16],
    /// File number: the highest valid manifest is current.
    pub number: u64,
    /// Number of the first log segment; higher ones belong to the store too.
    pub log_from: u64,
    /// End of the log.
    pub log_end: LogEnd,
    /// Compacted segments of the store.
    pub compacted: Vec<SealedSegment>,
}

impl Manifest {
    /// Encodes the manifest.
    ///
    /// # Errors
    /// Returns [`SegmentError::TooLong`] for more than 2^32 segments, or [`SegmentError::Unwritable`] for a last log
    /// segment that does not belong to the store.
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
                return Err(SegmentError::Unwritable { what: "the last log segment", must: "one of the log" });
            }
        };
        let mut out = FILE.begin(state, FIXED + len * LISTED + CRC);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&self.store);
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.log_from.to_le_bytes());
        [last].iter().chain(&self.compacted).for_each(|segment| segment.write(&mut out));
        Ok(SignedFile::finish(out))
    }

    /// Reads a manifest that fills `bytes`.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`], [`SegmentError::Foreign`], [`SegmentError::Checksum`],
    /// [`SegmentError::FutureVersion`], [`SegmentError::Value`] or [`SegmentError::Length`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        let (state, mut cursor) = FILE.open(bytes)?;
        let count = u64::from(cursor.u32(WHAT)?);
        let (expected, found) = ((FIXED + CRC) as u64 + count * LISTED as u64, bytes.len() as u64);
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

/// Placeholder for a missing segment.
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
