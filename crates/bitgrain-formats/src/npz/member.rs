//! `Member`: one file of an archive.

use std::borrow::Cow;
use std::ops::Range;

use super::NpzError;
use crate::crc::crc32;

/// Maximum deflate ratio: 258 bytes from two one-bit codes, rounded up per byte.
const MAX_RATIO: u64 = 1032;

/// Compression of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Uncompressed.
    Stored,
    /// Compressed with deflate.
    Deflated,
}

/// File of an archive, usually called `name.npy`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// Name as stored in the archive.
    pub name: String,
    /// Compression method.
    pub method: Method,
    /// Uncompressed size in bytes.
    pub size: u64,
    pub(super) held: &'a [u8],
    pub(super) start: usize,
    pub(super) crc: u32,
}

impl<'a> Member<'a> {
    /// Byte range of the member's data in the archive.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.start + self.held.len()
    }

    /// Returns the content of a stored member without checking it; `None` if it is deflated.
    #[must_use]
    pub const fn stored(&self) -> Option<&'a [u8]> {
        match self.method {
            Method::Stored => Some(self.held),
            Method::Deflated => None,
        }
    }

    /// Returns the content: borrowed if stored, decompressed if it has at most `limit` bytes. The checksum is verified.
    ///
    /// # Errors
    /// Returns [`NpzError::OverLimit`] before anything is allocated, [`NpzError::Inflate`] if the data does not
    /// decompress to the expected size, [`NpzError::Checksum`] if the content is damaged.
    pub fn read(&self, limit: u64) -> Result<Cow<'a, [u8]>, NpzError> {
        let content = match self.method {
            Method::Stored => Cow::Borrowed(self.held),
            Method::Deflated => Cow::Owned(self.inflate(limit)?),
        };
        let (expected, found) = (self.crc, crc32(&content));
        if expected == found {
            Ok(content)
        } else {
            Err(NpzError::Checksum { member: self.name.clone(), expected, found })
        }
    }

    fn inflate(&self, limit: u64) -> Result<Vec<u8>, NpzError> {
        let member = || self.name.clone();
        let inflate_error = || NpzError::Inflate { member: member(), size: self.size };
        if self.size > limit {
            return Err(NpzError::OverLimit { member: member(), size: self.size, limit });
        }
        let size = usize::try_from(self.size).map_err(|_| inflate_error())?;
        let content = miniz_oxide::inflate::decompress_to_vec_with_limit(self.held, size);
        content.ok().filter(|content| content.len() == size).ok_or_else(inflate_error)
    }

    /// Checks that the sizes are plausible.
    pub(super) fn check_size(&self) -> Result<(), NpzError> {
        let compressed = self.held.len() as u64;
        let possible = match self.method {
            Method::Stored => self.size == compressed,
            Method::Deflated => self.size <= compressed.saturating_mul(MAX_RATIO),
        };
        if possible { Ok(()) } else { Err(NpzError::Size { member: self.name.clone(), compressed, size: self.size }) }
    }
}
