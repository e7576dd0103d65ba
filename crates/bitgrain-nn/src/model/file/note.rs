//! `Note`: encodings of the quantized weights in a safetensors file. Spec: `spec/weights.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Metadata key that holds the note as JSON.
pub(crate) const NOTE_KEY: &str = "bitgrain";

/// Suffixes of the names of a tensor's scales and zero points.
pub(crate) const SCALES: &str = ".scales";
pub(crate) const ZEROS: &str = ".zeros";

/// Tensors whose encoding differs from their safetensors dtype.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Version of the note's layout; 1.
    pub(crate) version: u32,
    pub(crate) weights: BTreeMap<String, Entry>,
}

/// Encoding of one quantized tensor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Format name as on the command line: `int4/32`, `q4_k`.
    pub(crate) format: String,
    /// Shape of the weights, outermost dimension first.
    pub(crate) shape: Vec<u64>,
}
