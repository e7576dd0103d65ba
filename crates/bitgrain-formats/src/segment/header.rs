//! `SegmentHeader`: the first 64 bytes of a segment.

use super::cursor::Cursor;
use super::{SegmentError, VERSION};
use crate::crc::crc32c;

/// Origin of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Records in the order of writing.
    Log,
    /// Live records of other segments.
    Compacted,
}

/// Header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentHeader {
    /// Origin of the segment.
    pub kind: SegmentKind,
    /// Id of the store.
    pub store: [u8; 16],
    /// File number, unique among the segments and manifests of a store.
    pub number: u64,
    /// Number of the previous log segment; 0 for the first one.
    pub previous: u64,
    /// Base of the sequence numbers of the records. Smaller ones are valid but take more bytes.
    pub base_sequence: u64,
    /// Base of the times of the records. Smaller ones are valid but take more bytes.
    pub base_time: u64,
}

const MAGIC: [u8; 8] = *b"BGSEGMT\0";
const WHAT: &str = "segment";
/// Offset of the checksum.
const CRC: usize = 60;

impl SegmentHeader {
    /// Size of a header in bytes.
    pub const LEN: usize = 64;

    /// Encodes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        let kind = match self.kind {
            SegmentKind::Log => 0,
            SegmentKind::Compacted => 1,
        };
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = kind;
        bytes[12..28].copy_from_slice(&self.store);
        let numbers = [self.number, self.previous, self.base_sequence, self.base_time];
        for (field, number) in bytes[28..CRC].as_chunks_mut().0.iter_mut().zip(numbers) {
            *field = number.to_le_bytes();
        }
        let crc = crc32c(&bytes[..CRC]);
        bytes[CRC..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`] for fewer than [`LEN`](Self::LEN) bytes, [`SegmentError::Foreign`],
    /// [`SegmentError::Checksum`], [`SegmentError::FutureVersion`] or [`SegmentError::Value`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        let bytes = Cursor::new(bytes, 0).array::<{ Self::LEN }>("segment header")?;
        let mut cursor = Cursor::new(&bytes, 0);
        let found = cursor.array(WHAT)?;
        if found != MAGIC {
            return Err(SegmentError::Foreign { what: WHAT, found });
        }
        // The checksum comes before the version, so that a flipped bit is not mistaken for a newer version.
        let (computed, stored) = (crc32c(&bytes[..CRC]), Cursor::new(&bytes[CRC..], 0).u32(WHAT)?);
        if stored != computed {
            return Err(SegmentError::Checksum { what: "the segment's header", offset: 0, stored, computed });
        }
        let found = cursor.u16(WHAT)?;
        if found > VERSION {
            return Err(SegmentError::FutureVersion { what: WHAT, found, known: VERSION });
        }
        let kind = match (found, cursor.array(WHAT)?) {
            (1.., [0, 0]) => SegmentKind::Log,
            (1.., [1, 0]) => SegmentKind::Compacted,
            _ => return Err(SegmentError::Value { what: "segment version or kind", offset: 8 }),
        };
        Ok(Self {
            kind,
            store: cursor.array(WHAT)?,
            number: cursor.u64(WHAT)?,
            previous: cursor.u64(WHAT)?,
            base_sequence: cursor.u64(WHAT)?,
            base_time: cursor.u64(WHAT)?,
        })
    }

    /// Returns the initial value of the checksums of this segment: the checksum of its header. Callers that read many
    /// records cache it for [`RecordView::parse_salted`](super::RecordView::parse_salted).
    #[must_use]
    pub fn salt(&self) -> u32 {
        let [.., a, b, c, d] = self.encode();
        u32::from_le_bytes([a, b, c, d])
    }
}
