//! A cursor over bytes: no length is believed before it is held against the bytes left.

use super::SegmentError;

/// A place in some bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Where `bytes` begin, for the errors.
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

    /// The next byte, which stays to be read.
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

    /// A number of as few bytes as it takes; longer ones are refused, so that every number has one form.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, SegmentError> {
        if let [byte @ 0..0x80, rest @ ..] = self.bytes {
            (self.bytes, self.offset) = (rest, self.offset + 1);
            return Ok(u64::from(*byte));
        }
        let (offset, mut value) = (self.offset, 0);
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            let fits = bits << shift >> shift == bits; // the tenth byte has room for one bit
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

    /// A number that is stored as what it is away from `base`.
    pub(super) fn delta(&mut self, what: &'static str, base: u64) -> Result<u64, SegmentError> {
        let folded = self.varint(what)?;
        let away = folded >> 1 ^ (folded & 1).wrapping_neg();
        Ok(base.wrapping_add(away))
    }

    /// As [`delta`](Self::delta), where a distance of 0 would have been left out.
    pub(super) fn other(&mut self, what: &'static str, base: u64) -> Result<u64, SegmentError> {
        let offset = self.offset;
        let value = self.delta(what, base)?;
        if value == base { Err(SegmentError::Value { what, offset }) } else { Ok(value) }
    }

    /// A number of values or bytes in memory.
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

    /// An error unless everything was read.
    pub(super) fn end(self, what: &'static str) -> Result<(), SegmentError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(SegmentError::Value { what, offset: self.offset }) }
    }
}
