//! Network files: JSON and safetensors. Spec: `spec/network.md`.
//!
//! A file is written atomically, and read completely or rejected: all arrays are checked against the layers before the
//! network is created.

mod error;
mod json;
mod safetensors;
mod saved;

use std::fs;
use std::path::Path;

use bitgrain_files::PartFile;

use crate::ModelFileError;
use crate::network::Network;
use crate::network::layer::Layer;
pub use error::NetworkFileError;
use saved::{Saved, SavedParameter};

/// Latest version of both file formats. Version 2 adds moments, version 3 the ranges of inputs.
const VERSION: u32 = 3;

/// Returns the version to write: the oldest one that has all entries of the file, so that older readers can read it.
fn version_of(saved: &Saved) -> u32 {
    let any = |has: fn(&SavedParameter) -> bool| saved.parameters.iter().any(has);
    if any(|parameter| parameter.input_range.is_some()) {
        VERSION
    } else if any(|parameter| parameter.moments.is_some()) {
        2
    } else {
        1
    }
}

/// Returns whether this version can be read.
fn is_known(version: u64) -> bool {
    (1..=u64::from(VERSION)).contains(&version)
}

/// Content of a network file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Master weights, importances, moments and all existing versions, so that training and quantization can continue
    /// as without the file. Moments take half the square of a matrix's columns as f32. A parameter without a master is
    /// saved without one.
    All,
    /// Only the active weights of each parameter: as small as its format. The loaded network has only the codes, as
    /// after [`Network::freeze`].
    Active,
}

/// Parses layers from a JSON list, as in network files.
///
/// ```
/// use bitgrain_nn::network::save::{layers_from_json, layers_to_json};
/// let text = r#"[{"kind":"dense","outputs":3,"bias":true},{"kind":"activation","function":"relu"}]"#;
/// let layers = layers_from_json(text)?;
/// assert_eq!(layers[0].kind(), "dense");
/// assert_eq!(layers_from_json(&layers_to_json(&layers)?)?, layers);
/// # Ok::<(), bitgrain_nn::network::save::NetworkFileError>(())
/// ```
///
/// # Errors
/// Returns [`NetworkFileError::Json`], [`NetworkFileError::Kind`] or [`NetworkFileError::Layer`], each with the
/// position.
pub fn layers_from_json(text: &str) -> Result<Vec<Layer>, NetworkFileError> {
    json::layers(serde_json::from_str(text)?, "")
}

/// Serializes layers as a JSON list.
///
/// # Errors
/// Does not fail for layers that a network can have.
pub fn layers_to_json(layers: &[Layer]) -> Result<String, NetworkFileError> {
    Ok(serde_json::to_string(layers)?)
}

impl Network {
    /// Serializes the network as JSON.
    ///
    /// # Errors
    /// Returns [`NetworkFileError::Network`] if weights cannot be quantized.
    pub fn to_json(&self, contents: Contents) -> Result<String, NetworkFileError> {
        json::write(&Saved::of(self, contents)?)
    }

    /// Parses a network from JSON.
    ///
    /// # Errors
    /// Returns a [`NetworkFileError`] with the defect and its position.
    pub fn from_json(text: &[u8]) -> Result<Self, NetworkFileError> {
        json::read(text)?.into_network()
    }

    /// Serializes the network as a safetensors file.
    ///
    /// # Errors
    /// Returns [`NetworkFileError::Network`] if weights cannot be quantized.
    pub fn to_safetensors(&self, contents: Contents) -> Result<Vec<u8>, NetworkFileError> {
        safetensors::write(&Saved::of(self, contents)?)
    }

    /// Parses a network from a safetensors file.
    ///
    /// # Errors
    /// Returns a [`NetworkFileError`] with the defect and its position.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, NetworkFileError> {
        safetensors::read(bytes)?.into_network()
    }

    /// Writes a file atomically: JSON if its name ends in `.json`, safetensors if it ends in `.safetensors`.
    ///
    /// # Errors
    /// Returns [`NetworkFileError::Name`] for another extension, [`NetworkFileError::Io`] if the file cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>, contents: Contents) -> Result<(), NetworkFileError> {
        let path = path.as_ref();
        let bytes = match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => self.to_json(contents)?.into_bytes(),
            Some("safetensors") => self.to_safetensors(contents)?,
            _ => return Err(NetworkFileError::Name { path: path.to_owned() }),
        };
        PartFile::write_atomic(path, &bytes).map_err(ModelFileError::io(path)).map_err(NetworkFileError::io)
    }

    /// Reads a file of either format, which is detected from its content.
    ///
    /// # Errors
    /// Returns [`NetworkFileError::Io`] if the file cannot be read, or another [`NetworkFileError`] with the defect and
    /// its position.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NetworkFileError> {
        let path = path.as_ref();
        Self::from_bytes(&fs::read(path).map_err(ModelFileError::io(path)).map_err(NetworkFileError::io)?)
    }

    /// Parses a file of either format, which is detected from its content.
    ///
    /// # Errors
    /// Returns a [`NetworkFileError`] with the defect and its position.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetworkFileError> {
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') && bytes.get(8) != Some(&b'{') {
            return Self::from_json(bytes);
        }
        // The length of a safetensors header can also start with this byte, so check what follows.
        if bytes.first() == Some(&b'{') && json::looks_like(bytes) {
            return Self::from_json(bytes);
        }
        Self::from_safetensors(bytes)
    }
}
