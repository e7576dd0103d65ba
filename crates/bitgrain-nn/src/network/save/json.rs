//! The JSON file: one document with arrays in base64 and a checksum at the end. Spec: `spec/network.md`.

use base64::Engine as _;
// Strict: padding is required and trailing bits are zero, so that each array has one encoding.
use base64::engine::general_purpose::STANDARD as BASE64;
use bitgrain_codec::weight::PartsBuf;
use bitgrain_formats::crc32c;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::saved::{Saved, SavedParameter, SavedVersion, format_text, parse_format};
use super::{NetworkFileError, is_known, version_of};
use crate::network::Shape;
use crate::network::layer::Layer;

/// Value of the `format` entry.
const NAME: &str = "bitgrain network";

/// Precedes the checksum, which is the last entry of the file.
const CHECKSUM: &[u8] = b",\n\"crc32c\":";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    input: Shape,
    layers: Vec<Value>,
    parameters: Vec<Entry>,
    #[serde(default, skip_serializing)]
    crc32c: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    rows: usize,
    cols: usize,
    active: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    master: Option<Floats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    importance: Option<Floats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_range: Option<[f32; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moments: Option<Floats>,
    versions: Vec<VersionEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionEntry {
    format: String,
    stored: String,
    /// Number of weights.
    count: usize,
    codes: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scales: Option<Floats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zeros: Option<String>,
}

/// Little-endian f32 values.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Floats {
    count: usize,
    base64: String,
}

impl Floats {
    fn of(values: &[f32]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { count: values.len(), base64: BASE64.encode(&bytes) }
    }

    fn read(&self, parameter: &str, what: &'static str) -> Result<Vec<f32>, NetworkFileError> {
        let bytes = bytes(&self.base64, parameter, what)?;
        if Some(bytes.len()) != self.count.checked_mul(4) {
            let (parameter, wanted, found) = (parameter.to_owned(), self.count, bytes.len() / 4);
            return Err(NetworkFileError::Length { parameter, what, wanted, found });
        }
        Ok(bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
    }
}

fn bytes(text: &str, parameter: &str, what: &'static str) -> Result<Vec<u8>, NetworkFileError> {
    BASE64.decode(text).map_err(|source| NetworkFileError::Base64 { parameter: parameter.to_owned(), what, source })
}

pub(super) fn write(saved: &Saved) -> Result<String, NetworkFileError> {
    let version = |version: &SavedVersion, count| VersionEntry {
        format: format_text(version.format),
        stored: format_text(version.stored),
        count,
        codes: BASE64.encode(&version.parts.codes),
        scales: (!version.parts.scales.is_empty()).then(|| Floats::of(&version.parts.scales)),
        zeros: (!version.parts.zeros.is_empty()).then(|| BASE64.encode(&version.parts.zeros)),
    };
    let entry = |one: &SavedParameter| Entry {
        name: one.name.clone(),
        rows: one.rows,
        cols: one.cols,
        active: format_text(one.active),
        master: one.master.as_deref().map(Floats::of),
        importance: one.importance.as_deref().map(Floats::of),
        input_range: one.input_range,
        moments: one.moments.as_deref().map(Floats::of),
        versions: one.versions.iter().map(|saved| version(saved, one.rows * one.cols)).collect(),
    };
    let document = Document {
        format: NAME.to_owned(),
        version: version_of(saved),
        input: saved.input.clone(),
        layers: saved.layers.iter().map(serde_json::to_value).collect::<Result<_, _>>()?,
        parameters: saved.parameters.iter().map(entry).collect(),
        crc32c: None,
    };
    let mut text = serde_json::to_string_pretty(&document)?;
    // Reopen the document to append the checksum, which covers all bytes before it.
    text.truncate(text.trim_end_matches(['}', '\n']).len());
    let sum = crc32c(text.as_bytes());
    text.push_str(&String::from_utf8_lossy(CHECKSUM));
    text.push_str(&format!("{sum}}}\n"));
    Ok(text)
}

pub(super) fn read(text: &[u8]) -> Result<Saved, NetworkFileError> {
    /// Entries that are checked before the rest is parsed as this version's layout.
    #[derive(Deserialize)]
    struct Head {
        format: Option<Value>,
        version: Option<Value>,
    }
    let head: Head = serde_json::from_slice(text)?;
    if head.format.as_ref().and_then(Value::as_str) != Some(NAME) {
        return Err(NetworkFileError::NotANetwork { reason: "its format is not `bitgrain network`" });
    }
    match head.version.as_ref().and_then(Value::as_u64) {
        Some(version) if is_known(version) => {}
        Some(found) => return Err(NetworkFileError::Version { found }),
        None => return Err(NetworkFileError::NotANetwork { reason: "it has no version" }),
    }
    let document: Document = serde_json::from_slice(text)?;
    if let Some(stored) = document.crc32c {
        // The checksum is the last entry, so search from the end.
        let end = text.windows(CHECKSUM.len()).rposition(|window| window == CHECKSUM);
        let found = crc32c(&text[..end.unwrap_or(0)]);
        if stored != found {
            return Err(NetworkFileError::Checksum { stored, found });
        }
    }
    let layers = layers(document.layers, "")?;
    let parameters = document.parameters.into_iter().map(parameter).collect::<Result<_, _>>()?;
    Ok(Saved { input: document.input, layers, parameters })
}

/// Returns whether the bytes start like such a file, and not like a safetensors file whose length happens to start with
/// the byte `{`.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(64)].windows(8).any(|window| window == b"\"format\"")
}

/// Parses layers. Checks the kind first, so that the error names an unknown one.
pub(super) fn layers(values: Vec<Value>, path: &str) -> Result<Vec<Layer>, NetworkFileError> {
    let layer = |(index, value): (usize, Value)| {
        let layer = if path.is_empty() { index.to_string() } else { format!("{path}.{index}") };
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        if !Layer::KINDS.contains(&kind) {
            return Err(NetworkFileError::Kind { layer, kind: kind.to_owned() });
        }
        if let Some(Value::Array(inner)) = value.get("layers") {
            layers(inner.clone(), &layer)?;
        }
        serde_json::from_value(value).map_err(|error| NetworkFileError::Layer { layer, message: error.to_string() })
    };
    values.into_iter().enumerate().map(layer).collect()
}

fn parameter(entry: Entry) -> Result<SavedParameter, NetworkFileError> {
    let name = entry.name;
    let floats = |floats: Option<Floats>, what| floats.map(|floats| floats.read(&name, what)).transpose();
    let versions = entry.versions.into_iter().map(|version| {
        if Some(version.count) != entry.rows.checked_mul(entry.cols) {
            let (wanted, found) = (entry.rows.saturating_mul(entry.cols), version.count);
            return Err(NetworkFileError::Length { parameter: name.clone(), what: "weights", wanted, found });
        }
        let parts = PartsBuf {
            codes: bytes(&version.codes, &name, "codes")?,
            scales: floats(version.scales, "scales")?.unwrap_or_default(),
            zeros: version.zeros.map_or(Ok(Vec::new()), |zeros| bytes(&zeros, &name, "zero points"))?,
        };
        let (format, stored) = (parse_format(&name, &version.format)?, parse_format(&name, &version.stored)?);
        Ok(SavedVersion { format, stored, parts })
    });
    Ok(SavedParameter {
        versions: versions.collect::<Result<_, _>>()?,
        active: parse_format(&name, &entry.active)?,
        master: floats(entry.master, "weights")?,
        importance: floats(entry.importance, "importances")?,
        input_range: entry.input_range,
        moments: floats(entry.moments, "moments")?,
        rows: entry.rows,
        cols: entry.cols,
        name,
    })
}
