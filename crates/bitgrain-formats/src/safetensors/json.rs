//! JSON of headers and indexes: parsed in order, with the entry name for errors.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

use super::{METADATA_KEY, SafetensorsError};

/// JSON object as a list of entries, in order and with duplicates.
#[derive(Debug)]
pub(super) struct Entries<K, V>(pub(super) Vec<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for List<K, V> {
            type Value = Entries<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(List(PhantomData))
    }
}

/// Unchecked header entry of a tensor.
#[derive(Debug)]
pub(super) struct RawTensor {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) offsets: (u64, u64),
}

/// Unchecked header.
#[derive(Debug, Default)]
pub(super) struct RawHeader {
    pub(super) metadata: Vec<(String, String)>,
    pub(super) tensors: Vec<RawTensor>,
}

/// Fields of a tensor. Unknown fields are ignored, as in the reference implementation.
#[derive(serde::Deserialize)]
struct Fields {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// Parses the text of a header.
pub(super) fn parse_header(text: &[u8]) -> Result<RawHeader, SafetensorsError> {
    let at = RefCell::new(None);
    parse(text, &at, HeaderSeed { at: &at })
}

/// Deserializes `text` with `seed`, which records its current entry in `at`.
pub(super) fn parse<'de, T>(
    text: &'de [u8],
    at: &RefCell<Option<String>>,
    seed: impl DeserializeSeed<'de, Value = T>,
) -> Result<T, SafetensorsError> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| SafetensorsError::Json {
        entry: at.take(),
        line: error.line(),
        column: error.column(),
        message: message(&error),
    })
}

/// Returns the parser's message without the position that `serde_json` appends.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map(str::to_owned).unwrap_or(text)
}

struct HeaderSeed<'a> {
    at: &'a RefCell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for HeaderSeed<'_> {
    type Value = RawHeader;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawHeader, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for HeaderSeed<'_> {
    type Value = RawHeader;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawHeader, A::Error> {
        let (mut header, mut seen) = (RawHeader::default(), false);
        while let Some(name) = map.next_key::<String>()? {
            let is_metadata = name == METADATA_KEY;
            self.at.replace(Some(name));
            if is_metadata {
                if seen {
                    return Err(A::Error::custom("the metadata is there twice"));
                }
                seen = true;
                header.metadata = map.next_value::<Option<Entries<_, _>>>()?.map_or_else(Vec::new, |list| list.0);
                self.at.take();
            } else {
                let Object(Fields { dtype, shape, data_offsets }) = map.next_value()?;
                let name = self.at.take().unwrap_or_default();
                header.tensors.push(RawTensor { name, dtype, shape, offsets: data_offsets });
            }
        }
        Ok(header)
    }
}

/// Struct that accepts only a JSON object: a derived implementation would also accept an array of its fields.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Only<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Only(PhantomData))
    }
}
