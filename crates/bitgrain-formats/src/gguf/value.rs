//! `Value`: metadata values of thirteen types.

use super::cursor::{Cursor, Place};
use super::{GgufError, Strings};

/// The value of a key.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each is the type it is named after")]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(String),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// Array of elements of one type. Nested arrays are not supported: no known reader accepts them.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each is the type it is named after")]
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    Bool(Vec<bool>),
    String(Strings),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
}

/// Type numbers in a file.
mod id {
    pub(super) const U8: u32 = 0;
    pub(super) const I8: u32 = 1;
    pub(super) const U16: u32 = 2;
    pub(super) const I16: u32 = 3;
    pub(super) const U32: u32 = 4;
    pub(super) const I32: u32 = 5;
    pub(super) const F32: u32 = 6;
    pub(super) const BOOL: u32 = 7;
    pub(super) const STRING: u32 = 8;
    pub(super) const ARRAY: u32 = 9;
    pub(super) const U64: u32 = 10;
    pub(super) const I64: u32 = 11;
    pub(super) const F64: u32 = 12;
}

impl Value {
    /// Reads the type and value of `key`.
    pub(super) fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Self, GgufError> {
        let id = cursor.u32(Place::Of("value type", key))?;
        let place = Place::Of("value", key);
        Ok(match id {
            id::U8 => Self::U8(u8::from_le_bytes(cursor.array(place)?)),
            id::I8 => Self::I8(i8::from_le_bytes(cursor.array(place)?)),
            id::U16 => Self::U16(u16::from_le_bytes(cursor.array(place)?)),
            id::I16 => Self::I16(i16::from_le_bytes(cursor.array(place)?)),
            id::U32 => Self::U32(u32::from_le_bytes(cursor.array(place)?)),
            id::I32 => Self::I32(i32::from_le_bytes(cursor.array(place)?)),
            id::F32 => Self::F32(f32::from_le_bytes(cursor.array(place)?)),
            id::BOOL => Self::Bool(read_bool(key, 0, cursor.array::<1>(place)?[0])?),
            id::STRING => Self::String(cursor.string(place)?.into()),
            id::ARRAY => Self::Array(Array::read(cursor, key)?),
            id::U64 => Self::U64(u64::from_le_bytes(cursor.array(place)?)),
            id::I64 => Self::I64(i64::from_le_bytes(cursor.array(place)?)),
            id::F64 => Self::F64(f64::from_le_bytes(cursor.array(place)?)),
            id => return Err(GgufError::ValueType { key: key.into(), id }),
        })
    }

    /// Serializes type and value through `put`, piece by piece.
    pub(super) fn write<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        put(&self.id().to_le_bytes())?;
        match self {
            Self::U8(value) => put(&value.to_le_bytes()),
            Self::I8(value) => put(&value.to_le_bytes()),
            Self::U16(value) => put(&value.to_le_bytes()),
            Self::I16(value) => put(&value.to_le_bytes()),
            Self::U32(value) => put(&value.to_le_bytes()),
            Self::I32(value) => put(&value.to_le_bytes()),
            Self::F32(value) => put(&value.to_le_bytes()),
            Self::Bool(value) => put(&[u8::from(*value)]),
            Self::String(value) => write_string(value, put),
            Self::Array(value) => value.write(put),
            Self::U64(value) => put(&value.to_le_bytes()),
            Self::I64(value) => put(&value.to_le_bytes()),
            Self::F64(value) => put(&value.to_le_bytes()),
        }
    }

    /// Returns the type name: `u32`, `string`, `array`.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::I8(_) => "i8",
            Self::U16(_) => "u16",
            Self::I16(_) => "i16",
            Self::U32(_) => "u32",
            Self::I32(_) => "i32",
            Self::F32(_) => "f32",
            Self::Bool(_) => "bool",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::U64(_) => "u64",
            Self::I64(_) => "i64",
            Self::F64(_) => "f64",
        }
    }

    /// Returns the string, or `None` for other types.
    #[must_use]
    pub const fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text.as_str()) } else { None }
    }

    /// Returns the value of a non-negative integer of any width, or `None`.
    ///
    /// ```
    /// use bitgrain_formats::gguf::Value;
    /// assert_eq!((Value::I8(5).as_u64(), Value::I8(-5).as_u64(), Value::F32(5.0).as_u64()), (Some(5), None, None));
    /// ```
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::U64(value) => Some(value),
            Self::I8(value) => value.try_into().ok(),
            Self::I16(value) => value.try_into().ok(),
            Self::I32(value) => value.try_into().ok(),
            Self::I64(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// Returns the array, or `None` for other types.
    #[must_use]
    pub const fn as_array(&self) -> Option<&Array> {
        if let Self::Array(array) = self { Some(array) } else { None }
    }

    const fn id(&self) -> u32 {
        match self {
            Self::U8(_) => id::U8,
            Self::I8(_) => id::I8,
            Self::U16(_) => id::U16,
            Self::I16(_) => id::I16,
            Self::U32(_) => id::U32,
            Self::I32(_) => id::I32,
            Self::F32(_) => id::F32,
            Self::Bool(_) => id::BOOL,
            Self::String(_) => id::STRING,
            Self::Array(_) => id::ARRAY,
            Self::U64(_) => id::U64,
            Self::I64(_) => id::I64,
            Self::F64(_) => id::F64,
        }
    }
}

impl Array {
    fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Self, GgufError> {
        let id = cursor.u32(Place::Of("element type", key))?;
        let count = cursor.u64(Place::Of("element count", key))?;
        Ok(match id {
            id::U8 => Self::U8(read_all(cursor, key, count, u8::from_le_bytes)?),
            id::I8 => Self::I8(read_all(cursor, key, count, i8::from_le_bytes)?),
            id::U16 => Self::U16(read_all(cursor, key, count, u16::from_le_bytes)?),
            id::I16 => Self::I16(read_all(cursor, key, count, i16::from_le_bytes)?),
            id::U32 => Self::U32(read_all(cursor, key, count, u32::from_le_bytes)?),
            id::I32 => Self::I32(read_all(cursor, key, count, i32::from_le_bytes)?),
            id::F32 => Self::F32(read_all(cursor, key, count, f32::from_le_bytes)?),
            id::BOOL => {
                let bytes = cursor.take(Place::Of("value", key), count)?;
                let bools = bytes.iter().zip(0..).map(|(&byte, index)| read_bool(key, index, byte));
                Self::Bool(bools.collect::<Result<_, _>>()?)
            }
            id::STRING => Self::String(read_strings(cursor, key, count)?),
            id::ARRAY => return Err(GgufError::NestedArray { key: key.into() }),
            id::U64 => Self::U64(read_all(cursor, key, count, u64::from_le_bytes)?),
            id::I64 => Self::I64(read_all(cursor, key, count, i64::from_le_bytes)?),
            id::F64 => Self::F64(read_all(cursor, key, count, f64::from_le_bytes)?),
            id => return Err(GgufError::ValueType { key: key.into(), id }),
        })
    }

    fn write<E>(&self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        put(&self.id().to_le_bytes())?;
        put(&(self.len() as u64).to_le_bytes())?;
        match self {
            Self::U8(values) => put(values),
            Self::I8(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::U16(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::I16(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::U32(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::I32(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::F32(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::Bool(values) => values.iter().try_for_each(|&value| put(&[u8::from(value)])),
            Self::String(values) => values.iter().try_for_each(|value| write_string(value, put)),
            Self::U64(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::I64(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
            Self::F64(values) => values.iter().try_for_each(|value| put(&value.to_le_bytes())),
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::String(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Returns whether the array is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    const fn id(&self) -> u32 {
        match self {
            Self::U8(_) => id::U8,
            Self::I8(_) => id::I8,
            Self::U16(_) => id::U16,
            Self::I16(_) => id::I16,
            Self::U32(_) => id::U32,
            Self::I32(_) => id::I32,
            Self::F32(_) => id::F32,
            Self::Bool(_) => id::BOOL,
            Self::String(_) => id::STRING,
            Self::U64(_) => id::U64,
            Self::I64(_) => id::I64,
            Self::F64(_) => id::F64,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

fn read_bool(key: &str, index: u64, value: u8) -> Result<bool, GgufError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(GgufError::Bool { key: key.into(), index, value }),
    }
}

/// Reads `count` numbers of `N` bytes.
fn read_all<T, const N: usize>(
    cursor: &mut Cursor<'_>,
    key: &str,
    count: u64,
    read: fn([u8; N]) -> T,
) -> Result<Vec<T>, GgufError> {
    let place = Place::Of("value", key);
    cursor.count(Place::Of("elements", key), count, N as u64)?;
    let bytes = cursor.take(place, count * N as u64)?;
    Ok(bytes.as_chunks::<N>().0.iter().map(|&chunk| read(chunk)).collect())
}

/// Reads `count` strings. The first pass over the lengths finds the end of each string, the second copies the bytes.
fn read_strings(cursor: &mut Cursor<'_>, key: &str, count: u64) -> Result<Strings, GgufError> {
    let place = Place::Of("value", key);
    let count = cursor.count(Place::Of("elements", key), count, LEN_BYTES as u64)?;
    let (mut ahead, mut ends, mut end) = (cursor.fork(), Vec::with_capacity(count), 0);
    for _ in 0..count {
        let len = ahead.u64(place)?;
        end += ahead.take(place, len)?.len();
        ends.push(end);
    }
    let start = cursor.offset();
    let body = cursor.take(place, ahead.offset() - start)?;
    let (mut text, mut rest, mut last) = (Vec::with_capacity(end), body, 0);
    for &end in &ends {
        let (string, after) = rest[LEN_BYTES..].split_at(end - std::mem::replace(&mut last, end));
        text.extend_from_slice(string);
        rest = after;
    }
    Strings::from_parts(text, ends).map_err(|bad| {
        // The offset counts the earlier strings and one length prefix for each string up to this one.
        let offset = start + (LEN_BYTES * (bad.string + 1) + bad.start) as u64;
        GgufError::NotUtf8 { what: format!("string {} of key `{key}`", bad.string), offset }
    })
}

/// Size of a string's length prefix in bytes.
const LEN_BYTES: usize = 8;

/// Writes a length-prefixed string.
pub(super) fn write_string<E>(text: &str, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    put(&(text.len() as u64).to_le_bytes())?;
    put(text.as_bytes())
}
