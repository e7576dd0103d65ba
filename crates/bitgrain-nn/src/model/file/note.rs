//! `Note`: how the quantized weights in a safetensors file are to be read. Spec: `spec/weights.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The key of the file's metadata that holds the note, as JSON.
pub(crate) const NOTE_KEY: &str = "bitgrain";

/// What is behind the name of a tensor's scales and zero points.
pub(crate) const SCALES: &str = ".scales";
pub(crate) const ZEROS: &str = ".zeros";

/// Tensors that are not what safetensors' own dtype says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Of this layout of the note; 1.
    pub(crate) version: u32,
    pub(crate) weights: BTreeMap<String, Entry>,
}

/// One quantized tensor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// As formats are named on the command line: `int4/32`, `q4_k`.
    pub(crate) format: String,
    /// The shape of the weights, outermost first.
    pub(crate) shape: Vec<u64>,
}
