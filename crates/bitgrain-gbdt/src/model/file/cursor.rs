//! Bounds-checked cursor over a section: every count is compared with the bytes left before it is used.
//!
//! Separate from the cursors of `bitgrain-formats`, because the model file is this crate's own format: overlong varints
//! are valid (segments reject them), and counts are bounded by the minimum size of their items.

use super::FileError;

/// Position in a section of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the file.
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset }
    }

    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    pub(super) const fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn take(&mut self, what: &'static str, needed: u64) -> Result<&'a [u8], FileError> {
        let found = usize::try_from(needed).ok().and_then(|len| self.bytes.split_at_checked(len));
        let Some((taken, rest)) = found else {
            return Err(FileError::Truncated { what, offset: self.offset, needed, left: self.left() });
        };
        self.offset += taken.len();
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], FileError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N as u64)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, FileError> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, FileError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, FileError> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(super) fn f32(&mut self, what: &'static str) -> Result<f32, FileError> {
        self.array(what).map(f32::from_le_bytes)
    }

    pub(super) fn f64(&mut self, what: &'static str) -> Result<f64, FileError> {
        self.array(what).map(f64::from_le_bytes)
    }

    /// Reads a LEB128 varint.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, FileError> {
        let (offset, mut value) = (self.offset, 0);
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8(what)?;
            let bits = u64::from(byte & 0x7f);
            // Only one bit of the tenth byte fits in 64 bits.
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(FileError::Number { what, offset })
    }

    pub(super) fn index(&mut self, what: &'static str) -> Result<u32, FileError> {
        let offset = self.offset;
        u32::try_from(self.varint(what)?).map_err(|_| FileError::Number { what, offset })
    }

    /// Reads the number of items of at least `least` bytes each, after checking that they fit the bytes left.
    pub(super) fn count(&mut self, what: &'static str, least: u64) -> Result<usize, FileError> {
        let offset = self.offset;
        let count = self.varint(what)?;
        let needed = count.saturating_mul(least);
        match usize::try_from(count) {
            Ok(count) if needed <= self.left() as u64 => Ok(count),
            _ => Err(FileError::Truncated { what, offset, needed, left: self.left() }),
        }
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<String, FileError> {
        let len = self.count(what, 1)?;
        let offset = self.offset;
        let text = str::from_utf8(self.take(what, len as u64)?);
        text.map(str::to_owned).map_err(|_| FileError::NotUtf8 { what, offset })
    }

    /// Reads a boolean, 0 or 1.
    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool, FileError> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(FileError::Tag { what, offset: self.offset - 1, value }),
        }
    }
}
