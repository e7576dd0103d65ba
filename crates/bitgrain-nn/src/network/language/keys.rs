//! `Keys`: typed access to the metadata of a GGUF file.

use std::path::Path;

use bitgrain_formats::gguf::{Array, Metadata, Value};

use super::LanguageError;

/// Metadata of a file; keys may start with the architecture's name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys<'a> {
    pub(super) path: &'a Path,
    pub(super) metadata: &'a Metadata,
    pub(super) prefix: &'a str,
}

impl<'a> Keys<'a> {
    /// Returns the whole key: the architecture and `name`.
    pub(super) fn full(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.metadata.get(&self.full(name))
    }

    pub(super) fn missing(&self, name: &str) -> LanguageError {
        LanguageError::MissingKey { path: self.path.to_owned(), key: self.full(name) }
    }

    /// Creates the error for an unsupported value.
    pub(super) fn wrong(&self, name: &str, found: impl ToString, wanted: impl Into<String>) -> LanguageError {
        let (path, key) = (self.path.to_owned(), self.full(name));
        LanguageError::Key { path, key, found: found.to_string(), wanted: wanted.into() }
    }

    /// Returns a positive integer that fits a dimension.
    pub(super) fn size(&self, name: &str) -> Result<Option<usize>, LanguageError> {
        const WANTED: &str = "an integer from 1 to 2147483647";
        let Some(value) = self.get(name) else { return Ok(None) };
        let Some(number) = self.number(value) else { return Err(self.wrong(name, value.type_name(), WANTED)) };
        match i32::try_from(number).ok().and_then(|number| usize::try_from(number).ok()) {
            Some(size) if size > 0 => Ok(Some(size)),
            _ => Err(self.wrong(name, number, WANTED)),
        }
    }

    /// Returns an integer, or the value that all elements of an array share: models may state one per layer.
    fn number(&self, value: &Value) -> Option<u64> {
        let same = |values: &[i64]| match values {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => u64::try_from(*first).ok(),
            _ => None,
        };
        match value {
            Value::Array(Array::U32(values)) => same(&values.iter().map(|v| i64::from(*v)).collect::<Vec<_>>()),
            Value::Array(Array::I32(values)) => same(&values.iter().map(|v| i64::from(*v)).collect::<Vec<_>>()),
            other => other.as_u64(),
        }
    }

    pub(super) fn required_size(&self, name: &str) -> Result<usize, LanguageError> {
        self.size(name)?.ok_or_else(|| self.missing(name))
    }

    /// Returns a finite float.
    #[expect(clippy::cast_possible_truncation, reason = "settings are written as f32")]
    pub(super) fn float(&self, name: &str) -> Result<Option<f32>, LanguageError> {
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::F32(value)) => *value,
            Some(Value::F64(value)) => *value as f32,
            Some(other) => return Err(self.wrong(name, other.type_name(), "a number")),
        };
        if number.is_finite() { Ok(Some(number)) } else { Err(self.wrong(name, number, "a finite number")) }
    }

    /// Returns a positive float.
    pub(super) fn positive(&self, name: &str) -> Result<Option<f32>, LanguageError> {
        match self.float(name)? {
            Some(number) if number <= 0.0 => Err(self.wrong(name, number, "a positive number")),
            other => Ok(other),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a token id.
    pub(super) fn token(&self, name: &str) -> Option<u32> {
        self.get(name).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok())
    }
}
