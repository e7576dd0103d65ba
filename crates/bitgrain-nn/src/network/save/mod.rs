//! Networks in files: JSON and safetensors. Spec: `spec/network.md`.
//!
//! A file is written whole or not at all, and read whole or refused: every array is held against the layers before a
//! network is made of them.

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
use saved::Saved;

/// The latest version of both files. Version 2 adds moments.
const VERSION: u32 = 2;

/// The version of a file: 1 without moments, so that programs which know only version 1 can read it.
fn version_of(saved: &Saved) -> u32 {
    if saved.parameters.iter().any(|parameter| parameter.moments.is_some()) { VERSION } else { 1 }
}

/// Whether a file of that version can be read.
fn is_known(version: u64) -> bool {
    (1..=u64::from(VERSION)).contains(&version)
}

/// How much of a network a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Masters, importances, moments and every version there is: training and morphing go on as without the file.
    /// Moments take half the square of a matrix's columns as f32. A parameter without a master is saved without one.
    All,
    /// Of each parameter the weights that it runs on, and nothing else: as small as its format. The loaded network holds
    /// the codes alone, as after [`Network::freeze`].
    Active,
}

/// The layers that a JSON list describes, as files of networks have it.
///
/// ```
/// use bitgrain_nn::network::save::{layers_from_json, layers_to_json};
/// let text = r#"[{"kind":"dense","outputs":3,"bias":true},{"kind":"activation","curve":"relu"}]"#;
/// let layers = layers_from_json(text)?;
/// assert_eq!(layers[0].kind(), "dense");
/// assert_eq!(layers_from_json(&layers_to_json(&layers)?)?, layers);
/// # Ok::<(), bitgrain_nn::network::save::NetworkFileError>(())
/// ```
///
/// # Errors
/// [`NetworkFileError::Json`], [`NetworkFileError::Kind`] and [`NetworkFileError::Layer`], each with the place.
pub fn layers_from_json(text: &str) -> Result<Vec<Layer>, NetworkFileError> {
    json::layers(serde_json::from_str(text)?, "")
}

/// Layers as a JSON list.
///
/// # Errors
/// None for layers that a network can have.
pub fn layers_to_json(layers: &[Layer]) -> Result<String, NetworkFileError> {
    Ok(serde_json::to_string(layers)?)
}

impl Network {
    /// The text of a JSON file.
    ///
    /// # Errors
    /// [`NetworkFileError::Network`] if a version cannot be made.
    pub fn to_json(&self, contents: Contents) -> Result<String, NetworkFileError> {
        json::write(&Saved::of(self, contents)?)
    }

    /// The network that a JSON text is.
    ///
    /// # Errors
    /// A [`NetworkFileError`] that says what is wrong and where.
    pub fn from_json(text: &[u8]) -> Result<Self, NetworkFileError> {
        json::read(text)?.into_network()
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// [`NetworkFileError::Network`] if a version cannot be made.
    pub fn to_safetensors(&self, contents: Contents) -> Result<Vec<u8>, NetworkFileError> {
        safetensors::write(&Saved::of(self, contents)?)
    }

    /// The network that a safetensors file is.
    ///
    /// # Errors
    /// A [`NetworkFileError`] that says what is wrong and where.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, NetworkFileError> {
        safetensors::read(bytes)?.into_network()
    }

    /// Writes a file: JSON if its name ends in `.json`, safetensors if it ends in `.safetensors`. It appears when it is
    /// complete, or not at all.
    ///
    /// # Errors
    /// [`NetworkFileError::Name`] for another ending, [`NetworkFileError::Io`] if the file system refuses.
    pub fn save(&self, path: impl AsRef<Path>, contents: Contents) -> Result<(), NetworkFileError> {
        let path = path.as_ref();
        let bytes = match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => self.to_json(contents)?.into_bytes(),
            Some("safetensors") => self.to_safetensors(contents)?,
            _ => return Err(NetworkFileError::Name { path: path.to_owned() }),
        };
        PartFile::write_whole(path, &bytes).map_err(ModelFileError::io(path)).map_err(NetworkFileError::io)
    }

    /// Reads a file of either kind, whatever its name.
    ///
    /// # Errors
    /// [`NetworkFileError::Io`], and a [`NetworkFileError`] that says what is wrong and where.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NetworkFileError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(ModelFileError::io(path)).map_err(NetworkFileError::io)?;
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') && bytes.get(8) != Some(&b'{') {
            return Self::from_json(&bytes);
        }
        // The length of a safetensors header can begin with the same byte: then what follows tells.
        if bytes.first() == Some(&b'{') && json::looks_like(&bytes) {
            return Self::from_json(&bytes);
        }
        Self::from_safetensors(&bytes)
    }
}
