//! `IdRef`: what a tensor is called, as a borrowed text or a number.

use super::SegmentError;
use super::cursor::Cursor;
use super::put;

/// Name of a tensor. A text has 1 to 65,536 bytes; a text of digits is not the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdRef<'a> {
    /// A text.
    Name(&'a str),
    /// A number.
    Number(u128),
}

/// First byte of the key of a text.
const NAME: u8 = 0;
/// First byte of the key of a number.
const NUMBER: u8 = 1;

impl<'a> IdRef<'a> {
    /// Longest text in bytes.
    pub const MAX_LEN: usize = 65_536;
    /// Longest key in bytes.
    pub const MAX_KEY: usize = Self::MAX_LEN + 1;

    /// Appends the id as bytes that are ordered as ids are: a tag, then the text, or the number with its highest byte
    /// first.
    ///
    /// ```
    /// use bitgrain_formats::segment::IdRef;
    /// let mut key = Vec::new();
    /// IdRef::Name("ab").write_key(&mut key);
    /// assert_eq!(key, [0, b'a', b'b']);
    /// assert_eq!(IdRef::from_key(&key), Some(IdRef::Name("ab")));
    /// ```
    pub fn write_key(self, key: &mut Vec<u8>) {
        match self {
            Self::Name(name) => {
                key.push(NAME);
                key.extend_from_slice(name.as_bytes());
            }
            Self::Number(number) => {
                key.push(NUMBER);
                key.extend_from_slice(&number.to_be_bytes());
            }
        }
    }

    /// Writes the key to the beginning of `out`, which has at least [`key_len`](Self::key_len) bytes.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn copy_key(self, out: &mut [u8]) {
        match self {
            Self::Name(name) => {
                out[0] = NAME;
                out[1..=name.len()].copy_from_slice(name.as_bytes());
            }
            Self::Number(number) => {
                out[0] = NUMBER;
                out[1..17].copy_from_slice(&number.to_be_bytes());
            }
        }
    }

    /// The id with this key; `None` if there is none.
    #[must_use]
    pub fn from_key(key: &'a [u8]) -> Option<Self> {
        match key.split_first()? {
            (&NAME, name) if !name.is_empty() && name.len() <= Self::MAX_LEN => {
                str::from_utf8(name).ok().map(Self::Name)
            }
            (&NUMBER, number) => number.try_into().ok().map(u128::from_be_bytes).map(Self::Number),
            _ => None,
        }
    }

    /// Bytes of its key.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::Name(name) => 1 + name.len(),
            Self::Number(_) => 17,
        }
    }

    pub(super) fn check(self) -> Result<(), SegmentError> {
        match self {
            Self::Name("") => Err(SegmentError::Unwritable { what: "an id", must: "at least one character" }),
            Self::Name(name) if name.len() > Self::MAX_LEN => {
                Err(SegmentError::TooLong { what: "an id", len: name.len(), limit: Self::MAX_LEN })
            }
            _ => Ok(()),
        }
    }

    /// As heads have it: length and text, or 0, the bytes the number takes, and these.
    pub(super) fn write(self, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        self.check()?;
        match self {
            Self::Name(name) => put::text(out, name),
            Self::Number(number) => {
                let bytes = number.to_be_bytes();
                let taken = &bytes[number.leading_zeros() as usize / 8..];
                out.push(0);
                put::varint(out, taken.len() as u64);
                out.extend_from_slice(taken);
            }
        }
        Ok(())
    }

    /// Whether this id comes next.
    pub(super) fn is_next(self, cursor: &mut Cursor<'_>) -> Result<bool, SegmentError> {
        let len = cursor.varint("length of the id")?;
        match self {
            Self::Number(number) => Ok(len == 0 && read_number(cursor)? == number),
            Self::Name(name) => Ok(len == name.len() as u64 && cursor.take("id", len)? == name.as_bytes()),
        }
    }

    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let len = cursor.varint("length of the id")?;
        if len == 0 {
            return read_number(cursor).map(Self::Number);
        }
        if len > Self::MAX_LEN as u64 {
            return Err(SegmentError::Value { what: "length of the id", offset });
        }
        cursor.utf8("id", len).map(Self::Name)
    }
}

/// A number of as few bytes as it takes, the highest first.
fn read_number(cursor: &mut Cursor<'_>) -> Result<u128, SegmentError> {
    let offset = cursor.offset();
    let len = cursor.u8("length of the id")?;
    let taken = cursor.take("id", u64::from(len))?;
    let mut bytes = [0; 16];
    match bytes.len().checked_sub(taken.len()) {
        Some(zeros) if taken.first() != Some(&0) => bytes[zeros..].copy_from_slice(taken),
        _ => return Err(SegmentError::Value { what: "id", offset }),
    }
    Ok(u128::from_be_bytes(bytes))
}
