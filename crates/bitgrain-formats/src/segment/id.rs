//! `IdRef`: id of a tensor, a borrowed string or a number.

use super::SegmentError;
use super::cursor::Cursor;
use super::put;

/// Id of a tensor. A string has 1 to 65,536 bytes; the string `"7"` and the number 7 are different ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdRef<'a> {
    /// A string.
    Name(&'a str),
    /// A number.
    Number(u128),
}

/// First byte of the key of a string.
const NAME: u8 = 0;
/// First byte of the key of a number.
const NUMBER: u8 = 1;

impl<'a> IdRef<'a> {
    /// Maximum length of a string in bytes.
    pub const MAX_LEN: usize = 65_536;
    /// Maximum length of a key in bytes.
    pub const MAX_KEY: usize = Self::MAX_LEN + 1;

    /// Appends the id as a key; keys sort like ids: a tag, then the string, or the number in big-endian byte order.
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

    /// Writes the key to the start of `out`, which must have at least [`key_len`](Self::key_len) bytes.
    ///
    /// # Panics
    /// Panics if `out` is shorter.
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

    /// Returns the id of a key; `None` if the key is invalid.
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

    /// Returns the length of its key in bytes.
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

    /// Writes the id as in heads: length and string, or 0, the number of bytes of the number, and these bytes.
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

    /// Reads the next id and returns whether it is this one.
    pub(super) fn is_next(self, cursor: &mut Cursor<'_>) -> Result<bool, SegmentError> {
        let len = cursor.varint("id length")?;
        match self {
            Self::Number(number) => Ok(len == 0 && read_number(cursor)? == number),
            Self::Name(name) => Ok(len == name.len() as u64 && cursor.take("id", len)? == name.as_bytes()),
        }
    }

    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let len = cursor.varint("id length")?;
        if len == 0 {
            return read_number(cursor).map(Self::Number);
        }
        if len > Self::MAX_LEN as u64 {
            return Err(SegmentError::Value { what: "id length", offset });
        }
        cursor.utf8("id", len).map(Self::Name)
    }
}

/// Reads a big-endian number without leading zero bytes.
fn read_number(cursor: &mut Cursor<'_>) -> Result<u128, SegmentError> {
    let offset = cursor.offset();
    let len = cursor.u8("id length")?;
    let taken = cursor.take("id", u64::from(len))?;
    let mut bytes = [0; 16];
    match bytes.len().checked_sub(taken.len()) {
        Some(zeros) if taken.first() != Some(&0) => bytes[zeros..].copy_from_slice(taken),
        _ => return Err(SegmentError::Value { what: "id", offset }),
    }
    Ok(u128::from_be_bytes(bytes))
}
