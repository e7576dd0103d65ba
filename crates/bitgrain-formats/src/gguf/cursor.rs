//! A cursor over the header: no length is believed before it is held against the bytes left.

use std::fmt;

use super::GgufError;

/// A place in the bytes of a file.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What is being read. Becomes words only if an error needs them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// A field of the header.
    Header(&'static str),
    /// The key with this number.
    Key(u64),
    /// What belongs to a key.
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

    /// The next `needed` bytes.
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

    /// `count` things of at least `least` bytes each, as a number that fits the bytes left.
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

    /// A length and as many bytes of UTF-8.
    pub(super) fn string(&mut self, place: Place<'_>) -> Result<&'a str, GgufError> {
        let len = self.u64(place)?;
        let offset = self.offset();
        str::from_utf8(self.take(place, len)?).map_err(|_| GgufError::NotUtf8 { what: place.to_string(), offset })
    }

    /// A cursor at the same place, to look ahead with.
    pub(super) const fn fork(&self) -> Self {
        Self { bytes: self.bytes, at: self.at }
    }
}
