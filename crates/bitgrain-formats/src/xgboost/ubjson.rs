//! UBJSON deserializer, big-endian: the markers that XGBoost writes, and the few that it could.
//!
//! Nesting is bounded and every count is compared with the bytes left, so memory and time stay proportional to the
//! file.

use std::fmt::{self, Display};

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::XgboostError;

/// Maximum nesting depth of lists and objects; a model has seven levels.
const MAX_DEPTH: usize = 64;

/// Position in the bytes of a file.
#[derive(Debug)]
pub(super) struct Ubjson<'de> {
    bytes: &'de [u8],
    at: usize,
    depth: usize,
}

/// Cause of an error; its position is the position of the reader.
#[derive(Debug)]
pub(super) struct Fault(String);

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

fn fault<T>(message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault(message.into()))
}

impl<'de> Ubjson<'de> {
    /// Deserializes a value that spans all bytes.
    pub(super) fn read<T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, XgboostError> {
        let mut reader = Self { bytes, at: 0, depth: 0 };
        let value = T::deserialize(&mut reader).and_then(|value| match reader.left() {
            0 => Ok(value),
            left => fault(format!("{left} bytes after the model")),
        });
        value.map_err(|Fault(message)| XgboostError::Ubjson { offset: reader.at, message })
    }

    const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, len: usize) -> Result<&'de [u8], Fault> {
        let Some(taken) = self.bytes[self.at..].get(..len) else {
            return fault(format!("{len} bytes are needed, but only {} are left", self.left()));
        };
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Returns the next marker, skipping no-op markers.
    fn marker(&mut self) -> Result<u8, Fault> {
        loop {
            match self.array()? {
                [b'N'] => {}
                [marker] => return Ok(marker),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Consumes the next byte if it equals the given one.
    fn took(&mut self, marker: u8) -> bool {
        let is = self.peek() == Some(marker);
        self.at += usize::from(is);
        is
    }

    fn whole(&mut self, marker: u8) -> Result<i64, Fault> {
        Ok(match marker {
            b'i' => i8::from_be_bytes(self.array()?).into(),
            b'U' => u8::from_be_bytes(self.array()?).into(),
            b'I' => i16::from_be_bytes(self.array()?).into(),
            b'l' => i32::from_be_bytes(self.array()?).into(),
            b'L' => i64::from_be_bytes(self.array()?),
            _ => return fault(format!("`{}` is not an integer marker", marker.escape_ascii())),
        })
    }

    fn len(&mut self) -> Result<usize, Fault> {
        let marker = self.marker()?;
        let len = self.whole(marker)?;
        match usize::try_from(len) {
            Ok(len) if len <= self.left() => Ok(len),
            _ => fault(format!("the length is {len}, but only {} bytes are left", self.left())),
        }
    }

    fn text(&mut self) -> Result<&'de str, Fault> {
        let len = self.len()?;
        str::from_utf8(self.take(len)?).map_err(|_| Fault("a string that is not UTF-8".into()))
    }

    fn value<V: Visitor<'de>>(&mut self, marker: u8, visitor: V) -> Result<V::Value, Fault> {
        match marker {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'i' | b'U' | b'I' | b'l' | b'L' => visitor.visit_i64(self.whole(marker)?),
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            b'C' => visitor.visit_char(char::from(u8::from_be_bytes(self.array()?))),
            b'S' => visitor.visit_borrowed_str(self.text()?),
            b'[' | b'{' if self.depth == MAX_DEPTH => fault(format!("more than {MAX_DEPTH} levels")),
            b'[' => {
                let items = self.items()?;
                self.depth += 1;
                let value = visitor.visit_seq(Inside { reader: self, items, close: b']' })?;
                self.depth -= 1;
                Ok(value)
            }
            b'{' => {
                let items = self.items()?;
                self.depth += 1;
                let value = visitor.visit_map(Inside { reader: self, items, close: b'}' })?;
                self.depth -= 1;
                Ok(value)
            }
            _ => fault(format!("unknown marker `{}`", marker.escape_ascii())),
        }
    }

    /// Reads the optional type and count after the opening of a list or object.
    fn items(&mut self) -> Result<Items, Fault> {
        let kind = if self.took(b'$') { Some(self.marker()?) } else { None };
        if !self.took(b'#') {
            return if kind.is_none() { Ok(Items { kind, left: None }) } else { fault("a type without a count") };
        }
        // Items without bytes would let a few bytes stand for any number of items.
        let least = match kind {
            Some(b'Z' | b'T' | b'F' | b'N') => return fault("a list of items without bytes"),
            Some(b'I') => 2,
            Some(b'l' | b'd') => 4,
            Some(b'L' | b'D') => 8,
            _ => 1,
        };
        let left = self.len()?;
        match left.checked_mul(least) {
            Some(bytes) if bytes <= self.left() => Ok(Items { kind, left: Some(left) }),
            _ => {
                fault(format!("{left} items of at least {least} bytes do not fit the {} remaining bytes", self.left()))
            }
        }
    }
}

/// Item type and count of a list or object, if given.
#[derive(Debug, Clone, Copy)]
struct Items {
    kind: Option<u8>,
    left: Option<usize>,
}

/// Access to the items of a list or object.
struct Inside<'a, 'de> {
    reader: &'a mut Ubjson<'de>,
    items: Items,
    close: u8,
}

impl Inside<'_, '_> {
    /// Returns whether another item follows; consumes the end marker otherwise.
    fn more(&mut self) -> bool {
        match &mut self.items.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => {
                while self.reader.took(b'N') {}
                !self.reader.took(self.close)
            }
        }
    }
}

impl<'de> SeqAccess<'de> for Inside<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        if !self.more() {
            return Ok(None);
        }
        seed.deserialize(Item { reader: self.reader, kind: self.items.kind }).map(Some)
    }

    /// No size hint: an item may take a hundred times its encoded size, and callers reserve memory before reading the
    /// first.
    fn size_hint(&self) -> Option<usize> {
        None
    }
}

impl<'de> MapAccess<'de> for Inside<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        if !self.more() {
            return Ok(None);
        }
        let key = self.reader.text()?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        seed.deserialize(Item { reader: self.reader, kind: self.items.kind })
    }
}

/// A value whose type may already be known.
struct Item<'a, 'de> {
    reader: &'a mut Ubjson<'de>,
    kind: Option<u8>,
}

impl<'de> Deserializer<'de> for Item<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let marker = match self.kind {
            Some(kind) => kind,
            None => self.reader.marker()?,
        };
        self.reader.value(marker, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.kind.is_none() && self.reader.took(b'Z') { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> Deserializer<'de> for &mut Ubjson<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        Item { reader: self, kind: None }.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
