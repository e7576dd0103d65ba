//! `Metadata`: ordered keys and values of a GGUF file.

use super::cursor::{Cursor, Place};
use super::{ALIGNMENT_KEY, DEFAULT_ALIGNMENT, GgufError, Value};
use crate::duplicate::duplicate;

/// Size of the smallest entry in bytes: key length, one character, type, one byte.
const LEAST_BYTES: u64 = 8 + 1 + 4 + 1;

/// Keys and values in file order, without duplicate keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    entries: Vec<(String, Value)>,
}

impl Metadata {
    /// Reads `count` entries.
    pub(super) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<Self, GgufError> {
        let count = cursor.count(Place::Header("keys"), count, LEAST_BYTES)?;
        let mut entries = Vec::with_capacity(count.min(super::header::RESERVE));
        for index in 0..count as u64 {
            let key = cursor.string(Place::Key(index))?;
            if key.is_empty() {
                return Err(GgufError::EmptyKey { index });
            }
            entries.push((key.to_owned(), Value::read(cursor, key)?));
        }
        match duplicate(entries.iter().map(|(key, _)| key.as_str())) {
            Some(key) => Err(GgufError::DuplicateKey { key: key.into() }),
            None => Ok(Self { entries }),
        }
    }

    /// Returns the number of keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the metadata is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of `key`, by linear search: files have a few dozen entries.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Sets `key`, in place or at the end, and returns its previous value.
    ///
    /// ```
    /// use bitgrain_formats::gguf::{Metadata, Value};
    /// let mut metadata = Metadata::default();
    /// metadata.set("general.quantization_version", 2);
    /// assert_eq!(metadata.get("general.quantization_version").and_then(Value::as_u64), Some(2));
    /// ```
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some((_, old)) = self.entries.iter_mut().find(|(known, _)| *known == key) {
            return Some(std::mem::replace(old, value));
        }
        self.entries.push((key, value));
        None
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(known, _)| known == key)?;
        Some(self.entries.remove(at).1)
    }

    /// Iterates over keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns `general.alignment`, or 32 if it is not set.
    ///
    /// # Errors
    /// Returns [`GgufError::AlignmentType`] if it is not a u32, [`GgufError::Alignment`] if it is not a power of two.
    pub fn alignment(&self) -> Result<u32, GgufError> {
        match self.get(ALIGNMENT_KEY) {
            None => Ok(DEFAULT_ALIGNMENT),
            Some(&Value::U32(alignment)) if alignment.is_power_of_two() => Ok(alignment),
            Some(&Value::U32(alignment)) => Err(GgufError::Alignment { alignment }),
            Some(other) => Err(GgufError::AlignmentType { found: other.type_name() }),
        }
    }
}
