//! `ModelMetadata`: metadata of a model file.

use std::collections::{HashMap, HashSet};

use bitgrain_formats::gguf;

use super::typed;

/// Metadata of a model file. Conversions between containers preserve all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelMetadata {
    /// Key-value pairs of a GGUF file.
    pub gguf: gguf::Metadata,
    /// String pairs of a safetensors file.
    pub strings: Vec<(String, String)>,
    /// Architecture (`model_type`) from the `config.json` next to the weights.
    pub architecture: Option<String>,
    /// Version of the container format, if the file states one.
    pub version: Option<u32>,
}

/// Prefixes of keys that came from the other container.
const FOREIGN_GGUF: &str = "gguf.";
const FOREIGN_STRINGS: &str = "safetensors.";

impl ModelMetadata {
    /// Returns all entries as JSON, in file order.
    #[must_use]
    pub fn entries(&self) -> Vec<(String, serde_json::Value)> {
        let keys = self.gguf.iter().map(|(key, value)| (key.to_owned(), value_json(value)));
        keys.chain(self.user_strings().map(|(key, value)| (key.to_owned(), value.into()))).collect()
    }

    /// Returns the strings of a safetensors file without the quantization note, whose content is part of the tensors.
    pub fn user_strings(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.strings.iter().filter(|(key, _)| key != super::NOTE_KEY);
        own.map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns whether a safetensors file describes its quantized weights in a note.
    pub(crate) fn has_note(&self) -> bool {
        self.strings.iter().any(|(key, _)| key == super::NOTE_KEY)
    }

    /// Converts to the key-value pairs of a GGUF file.
    ///
    /// Strings that came from a GGUF file become the original key again; others get a prefix.
    pub(crate) fn to_gguf(&self) -> gguf::Metadata {
        let mut keys = self.gguf.clone();
        let (mut restored, mut foreign) = (self.restored(), Vec::new());
        for (key, text) in self.user_strings() {
            match restored.remove(key) {
                Some((key, value)) => drop(keys.set(key, value)),
                None => foreign.push((format!("{FOREIGN_STRINGS}{key}"), text)),
            }
        }
        if keys.get("general.architecture").is_none() {
            keys.set("general.architecture", self.architecture.clone().unwrap_or_else(|| "unknown".into()));
        }
        for (key, text) in foreign {
            keys.set(key, text);
        }
        keys
    }

    /// Converts to the strings of a safetensors file. GGUF values become JSON that names their type.
    pub(crate) fn to_strings(&self) -> Vec<(String, String)> {
        let mut strings: Vec<_> = self.user_strings().map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
        for (key, value) in self.gguf.iter() {
            // Without a prefix, a reader would mistake these keys for the note or for keys to restore.
            let own = |key: &&str| *key != super::NOTE_KEY && !key.starts_with(FOREIGN_GGUF);
            match key.strip_prefix(FOREIGN_STRINGS).filter(own).zip(value.as_str()) {
                Some((own, text)) => strings.push((own.to_owned(), text.to_owned())),
                None => strings.push((format!("{FOREIGN_GGUF}{key}"), typed::to_text(value))),
            }
        }
        strings
    }

    /// Returns the GGUF pairs that strings of a safetensors file encode, by the names of the strings.
    fn restored(&self) -> HashMap<&str, (&str, gguf::Value)> {
        let (mut keys, mut plain) = (HashMap::new(), HashSet::new());
        let mut strings: Vec<_> = self.user_strings().collect();
        // A plain string X becomes the key `safetensors.X`. Its name is shorter than that of a string which restores
        // the same key, so it is seen first and wins.
        strings.sort_by_key(|(name, _)| name.len());
        for (name, text) in strings {
            let free = |key: &str| key.strip_prefix(FOREIGN_STRINGS).is_none_or(|own| !plain.contains(own));
            match restored(name, text).filter(|(key, _)| free(key)) {
                Some(found) => drop(keys.insert(name, found)),
                None => drop(plain.insert(name)),
            }
        }
        keys
    }
}

/// Returns the key and value that [`ModelMetadata::to_strings`] encoded in this string, if it did.
fn restored<'a>(name: &'a str, text: &str) -> Option<(&'a str, gguf::Value)> {
    let key = name.strip_prefix(FOREIGN_GGUF).filter(|key| !key.is_empty())?;
    let value = typed::from_text(text)?;
    // The container itself interprets this key: an invalid alignment would make the file unreadable.
    if key == gguf::ALIGNMENT_KEY {
        let mut alone = gguf::Metadata::default();
        alone.set(key, value.clone());
        alone.alignment().ok()?;
    }
    Some((key, value))
}

/// Converts a GGUF value to untyped JSON.
fn value_json(value: &gguf::Value) -> serde_json::Value {
    use gguf::{Array, Value};
    match value {
        Value::U8(v) => (*v).into(),
        Value::I8(v) => (*v).into(),
        Value::U16(v) => (*v).into(),
        Value::I16(v) => (*v).into(),
        Value::U32(v) => (*v).into(),
        Value::I32(v) => (*v).into(),
        Value::F32(v) => (*v).into(),
        Value::Bool(v) => (*v).into(),
        Value::String(v) => v.as_str().into(),
        Value::U64(v) => (*v).into(),
        Value::I64(v) => (*v).into(),
        Value::F64(v) => (*v).into(),
        Value::Array(array) => match array {
            Array::U8(v) => v.clone().into(),
            Array::I8(v) => v.clone().into(),
            Array::U16(v) => v.clone().into(),
            Array::I16(v) => v.clone().into(),
            Array::U32(v) => v.clone().into(),
            Array::I32(v) => v.clone().into(),
            Array::F32(v) => v.clone().into(),
            Array::Bool(v) => v.clone().into(),
            Array::String(v) => v.iter().collect::<Vec<_>>().into(),
            Array::U64(v) => v.clone().into(),
            Array::I64(v) => v.clone().into(),
            Array::F64(v) => v.clone().into(),
        },
    }
}
