//! `Config`: JSON files of a Hugging Face folder, read with typed errors.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::LanguageConversionError;

/// An object of a JSON file. A value of `null` counts as missing.
#[derive(Debug, Clone)]
pub(super) struct Config {
    path: PathBuf,
    entries: Map<String, Value>,
}

/// Reads a JSON file; `None` if it does not exist.
pub(super) fn read_json(path: &Path) -> Result<Option<Value>, LanguageConversionError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(LanguageConversionError::Io { path: path.to_owned(), source }),
    };
    let value = serde_json::from_slice(&bytes);
    value.map(Some).map_err(|error| LanguageConversionError::Json { path: path.to_owned(), reason: error.to_string() })
}

impl Config {
    /// Reads a file that holds an object; `None` if it does not exist.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, LanguageConversionError> {
        match read_json(path)? {
            None => Ok(None),
            Some(Value::Object(entries)) => Ok(Some(Self { path: path.to_owned(), entries })),
            Some(other) => Err(LanguageConversionError::Json {
                path: path.to_owned(),
                reason: format!("expected an object, found {}", kind(&other)),
            }),
        }
    }

    /// Moves the entries of a nested object to the top, where they win over entries of the same name.
    pub(super) fn flatten(&mut self, key: &str) {
        if let Some(Value::Object(inner)) = self.entries.remove(key) {
            self.entries.extend(inner);
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.entries.iter()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key).filter(|value| !value.is_null())
    }

    /// Returns a nested object.
    pub(super) fn object(&self, key: &str) -> Option<Self> {
        let entries = self.get(key)?.as_object()?.clone();
        Some(Self { path: self.path.clone(), entries })
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// Returns the first of several entries that exists as a positive integer.
    pub(super) fn count(&self, keys: &[&str]) -> Result<Option<u32>, LanguageConversionError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else { return Ok(None) };
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        count.map(Some).ok_or_else(|| self.wrong(key, value, "a positive integer"))
    }

    /// Returns the first of several entries as a positive integer, which must exist.
    pub(super) fn required(&self, keys: &[&str]) -> Result<u32, LanguageConversionError> {
        self.count(keys)?.ok_or_else(|| self.missing(keys[0]))
    }

    /// Returns the first of several entries that exists as a finite number.
    pub(super) fn number(&self, keys: &[&str]) -> Result<Option<f64>, LanguageConversionError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| self.wrong(key, value, "a finite number"))
    }

    pub(super) fn missing(&self, key: &str) -> LanguageConversionError {
        LanguageConversionError::MissingKey { path: self.path.clone(), key: key.to_owned() }
    }

    pub(super) fn wrong(&self, key: &str, value: &Value, expected: &'static str) -> LanguageConversionError {
        let found = value.to_string().chars().take(80).collect();
        LanguageConversionError::Value { path: self.path.clone(), key: key.to_owned(), found, expected }
    }

    pub(super) fn contradiction(&self, problem: String) -> LanguageConversionError {
        LanguageConversionError::Contradiction { path: self.path.clone(), problem }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
