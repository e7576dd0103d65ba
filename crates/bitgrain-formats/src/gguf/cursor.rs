//! Bounds-checked cursor over the header: every length is compared with the bytes left before it is used.
//!
//! Separate from the cursors of segments and of tree models: numbers here have fixed sizes, fields are named by a
//! [`Place`] that is only formatted for an error, and parsing looks ahead. Shared code would be `take` and `array`, and
//! an error generic over the three formats would be longer than both.

use std::fmt;

use super::GgufError;

/// Position in the bytes of a file.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Field being read; formatted only if an error needs it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// A field of the header.
    Header(&'static str),
    /// The key with this number.
    Key(u64),
    /// Part of a key's entry.
    Of(&'static str, &'a str),
    /// The name of the tensor with this number.
    TensorName(u64),
    /// A field of a tensor.
    Tensor(&'static str, &'a str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(field) => f.write_str(field),
            Self::Key(index) => write!(f, "key {index}"),
            Self::Of(part, key) => write!(f, "{part} of key `{key}`"),
            Self::TensorName(index) => write!(f, "name of tensor {index}"),
            Self::Tensor(field, name) => write!(f, "{field} of tensor `{name}`"),
        }
    }
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) const fn offset(&self) -> u64 {
        self.at as u64
    }

    /// Returns the next `needed` bytes.
    #[inline]
    pub(super) fn take(&mut self, place: Place<'_>, needed: u64) -> Result<&'a [u8], GgufError> {
        let left = &self.bytes[self.at..];
        match usize::try_from(needed).ok().and_then(|n| left.get(..n)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(self.truncated(place, needed)),
        }
    }

    #[cold]
    fn truncated(&self, place: Place<'_>, needed: u64) -> GgufError {
        let left = (self.bytes.len() - self.at) as u64;
        GgufError::Truncated { what: place.to_string(), offset: self.offset(), needed, left }
    }

    /// Converts a count of items of at least `least` bytes each, after checking that they fit the bytes left.
    pub(super) fn count(&self, what: Place<'_>, count: u64, least: u64) -> Result<usize, GgufError> {
        let left = (self.bytes.len() - self.at) as u64;
        let fits = count.checked_mul(least).is_some_and(|bytes| bytes <= left);
        match usize::try_from(count) {
            Ok(count) if fits => Ok(count),
            _ => Err(GgufError::Count { what: what.to_string(), count, least, left }),
        }
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self, place: Place<'_>) -> Result<[u8; N], GgufError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(place, N as u64)?);
        Ok(array)
    }

    pub(super) fn u32(&mut self, place: Place<'_>) -> Result<u32, GgufError> {
        self.array(place).map(u32::from_le_bytes)
    }

    #[inline]
    pub(super) fn u64(&mut self, place: Place<'_>) -> Result<u64, GgufError> {
        self.array(place).map(u64::from_le_bytes)
    }

    /// Reads a length-prefixed UTF-8 string.
    pub(super) fn string(&mut self, place: Place<'_>) -> Result<&'a str, GgufError> {
        let len = self.u64(place)?;
        let offset = self.offset();
        str::from_utf8(self.take(place, len)?).map_err(|_| GgufError::NotUtf8 { what: place.to_string(), offset })
    }

    /// Returns a second cursor at the same position, for lookahead.
    pub(super) const fn fork(&self) -> Self {
        Self { bytes: self.bytes, at: self.at }
    }
}
