//! `SignedFile`: the start and the checksum that manifests and catalogs share.

use super::cursor::Cursor;
use super::{SegmentError, VERSION};
use crate::crc::crc32c;

/// Size in bytes of the checksum at the end.
pub(super) const CRC: usize = 4;
/// Size in bytes of magic number, version and state.
const START: usize = 12;

/// A kind of file that consists of a magic number, a version, a state, content and a checksum of all of that.
pub(super) struct SignedFile {
    pub(super) magic: [u8; 8],
    /// Name in errors.
    pub(super) what: &'static str,
    /// Name of the whole file in errors.
    pub(super) whole: &'static str,
    /// Name of version and state in errors.
    pub(super) start: &'static str,
    /// Minimum size in bytes without the checksum.
    pub(super) fixed: usize,
    /// Largest valid state.
    pub(super) last_state: u16,
}

impl SignedFile {
    /// Starts a file, with space for `capacity` bytes.
    pub(super) fn begin(&self, state: u16, capacity: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(capacity);
        out.extend_from_slice(&self.magic);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&state.to_le_bytes());
        out
    }

    /// Appends the checksum.
    pub(super) fn finish(mut out: Vec<u8>) -> Vec<u8> {
        let crc = crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// Returns the state of a file that fills `bytes`, and a cursor at the content after it, which ends before the checksum.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`], [`SegmentError::Foreign`], [`SegmentError::Checksum`],
    /// [`SegmentError::FutureVersion`] or [`SegmentError::Value`].
    pub(super) fn open<'a>(&self, bytes: &'a [u8]) -> Result<(u16, Cursor<'a>), SegmentError> {
        let what = self.what;
        let mut cursor = Cursor::new(bytes, 0);
        let found = cursor.array(what)?;
        if found != self.magic {
            return Err(SegmentError::Foreign { what, found });
        }
        let needed = (self.fixed + CRC) as u64;
        let short = SegmentError::Truncated { what, offset: 0, needed, left: bytes.len() as u64 };
        let signed = bytes.split_last_chunk::<CRC>().filter(|(signed, _)| signed.len() >= self.fixed);
        let (signed, sum) = signed.ok_or(short)?;
        let (stored, computed) = (u32::from_le_bytes(*sum), crc32c(signed));
        if stored != computed {
            return Err(SegmentError::Checksum { what: self.whole, offset: 0, stored, computed });
        }
        let found = cursor.u16(what)?;
        if found > VERSION {
            return Err(SegmentError::FutureVersion { what, found, known: VERSION });
        }
        let state = cursor.u16(what)?;
        if found == 0 || state > self.last_state {
            return Err(SegmentError::Value { what: self.start, offset: 8 });
        }
        Ok((state, Cursor::new(&signed[START..], START as u64)))
    }
}
