//! Bounds-checked cursor over the metadata: every count is compared with the bytes left before it is used.
//!
//! Separate from the cursors of segments and models, because all numbers have fixed sizes here.

use super::BinsError;

/// Position in a part of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    fn take(&mut self, what: &'static str, needed: u64) -> Result<&'a [u8], BinsError> {
        let found = usize::try_from(needed).ok().and_then(|len| self.bytes.split_at_checked(len));
        let Some((taken, rest)) = found else {
            return Err(BinsError::Truncated { what, offset: self.offset, needed, left: self.bytes.len() as u64 });
        };
        self.offset += taken.len();
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], BinsError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N as u64)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, BinsError> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, BinsError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, BinsError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads a boolean, 0 or 1.
    pub(super) fn flag(&mut self, what: &'static str) -> Result<bool, BinsError> {
        let offset = self.offset;
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(BinsError::Value { what, offset }),
        }
    }

    /// Reads the number of items of at least `least` bytes each.
    pub(super) fn count(&mut self, what: &'static str, least: u64) -> Result<usize, BinsError> {
        let offset = self.offset;
        let count = u64::from(self.u32(what)?);
        let (needed, left) = (count.saturating_mul(least), self.bytes.len() as u64);
        match usize::try_from(count) {
            Ok(count) if needed <= left => Ok(count),
            _ => Err(BinsError::Truncated { what, offset, needed, left }),
        }
    }

    /// Reads numbers of `N` bytes, after their count.
    pub(super) fn list<const N: usize, T>(
        &mut self,
        what: &'static str,
        of: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, BinsError> {
        let count = self.count(what, N as u64)?;
        let bytes = self.take(what, count as u64 * N as u64)?;
        Ok(bytes.as_chunks::<N>().0.iter().map(|bytes| of(*bytes)).collect())
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<String, BinsError> {
        let len = self.count(what, 1)?;
        let offset = self.offset;
        let text = str::from_utf8(self.take(what, len as u64)?);
        text.map(str::to_owned).map_err(|_| BinsError::Value { what, offset })
    }

    pub(super) fn texts(&mut self, what: &'static str) -> Result<Vec<String>, BinsError> {
        (0..self.count(what, 4)?).map(|_| self.text(what)).collect()
    }

    /// Fails unless all bytes were consumed.
    pub(super) fn end(self, what: &'static str) -> Result<(), BinsError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(BinsError::Value { what, offset: self.offset }) }
    }
}
