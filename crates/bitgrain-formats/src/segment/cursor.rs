//! Bounds-checked cursor over records: every length is compared with the bytes left before it is used.
//!
//! Separate from the cursors of GGUF, whose numbers have fixed sizes, and of tree models, which accept longer forms of
//! a varint: a number has one encoding here, and many are stored as differences.

use super::SegmentError;

/// Position in a byte slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file, for error messages.
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) const fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn take(&mut self, what: &'static str, needed: u64) -> Result<&'a [u8], SegmentError> {
        let found = usize::try_from(needed).ok().and_then(|len| self.bytes.split_at_checked(len));
        let Some((taken, rest)) = found else {
            return Err(SegmentError::Truncated { what, offset: self.offset, needed, left: self.left() as u64 });
        };
        self.offset += needed;
        self.bytes = rest;
        Ok(taken)
    }

    /// Returns the next byte without consuming it.
    pub(super) const fn peek(&self) -> Option<u8> {
        match self.bytes {
            [byte, ..] => Some(*byte),
            [] => None,
        }
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], SegmentError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N as u64)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, SegmentError> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, SegmentError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, SegmentError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, SegmentError> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(super) fn f32(&mut self, what: &'static str) -> Result<f32, SegmentError> {
        self.array(what).map(f32::from_le_bytes)
    }

    /// Reads a varint. Overlong encodings are rejected, so that every number has exactly one encoding.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, SegmentError> {
        if let [byte @ 0..0x80, rest @ ..] = self.bytes {
            (self.bytes, self.offset) = (rest, self.offset + 1);
            return Ok(u64::from(*byte));
        }
        let (offset, mut value) = (self.offset, 0);
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            let fits = bits << shift >> shift == bits; // the tenth byte holds only one bit
            let spare = byte == 0 && shift > 0;
            if !fits || spare {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(SegmentError::Value { what, offset })
    }

    /// Reads a number stored as a signed distance from `base`.
    pub(super) fn delta(&mut self, what: &'static str, base: u64) -> Result<u64, SegmentError> {
        let folded = self.varint(what)?;
        let away = folded >> 1 ^ (folded & 1).wrapping_neg();
        Ok(base.wrapping_add(away))
    }

    /// Like [`delta`](Self::delta), but rejects a distance of 0, which a writer omits.
    pub(super) fn other(&mut self, what: &'static str, base: u64) -> Result<u64, SegmentError> {
        let offset = self.offset;
        let value = self.delta(what, base)?;
        if value == base { Err(SegmentError::Value { what, offset }) } else { Ok(value) }
    }

    /// Reads a number of values or bytes that must fit in memory.
    pub(super) fn size(&mut self, what: &'static str) -> Result<usize, SegmentError> {
        let offset = self.offset;
        usize::try_from(self.varint(what)?).map_err(|_| SegmentError::Value { what, offset })
    }

    pub(super) fn utf8(&mut self, what: &'static str, len: u64) -> Result<&'a str, SegmentError> {
        let offset = self.offset;
        str::from_utf8(self.take(what, len)?).map_err(|_| SegmentError::Value { what, offset })
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<&'a str, SegmentError> {
        let len = self.varint(what)?;
        self.utf8(what, len)
    }

    /// Fails unless all bytes were consumed.
    pub(super) fn end(self, what: &'static str) -> Result<(), SegmentError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(SegmentError::Value { what, offset: self.offset }) }
    }
}
