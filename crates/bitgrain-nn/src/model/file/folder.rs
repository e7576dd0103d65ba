//! Hugging Face folders: which files hold the weights, and what `config.json` says.

use std::fs;
use std::path::{Path, PathBuf};

use crate::model::ModelFileError;

const ONE_FILE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const CONFIG: &str = "config.json";

/// The file of a folder that holds the weights: the index of its shards, the one file, or the only model there is.
pub(crate) fn weights(folder: &Path) -> Result<PathBuf, ModelFileError> {
    for name in [INDEX, ONE_FILE] {
        let path = folder.join(name);
        if path.is_file() {
            return Ok(path);
        }
    }
    let entries = fs::read_dir(folder).map_err(ModelFileError::io(folder))?;
    let is_model = |path: &PathBuf| path.extension().is_some_and(|e| e == "safetensors" || e == "gguf");
    let mut models = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_model);
    match (models.next(), models.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(ModelFileError::NoWeights { path: folder.to_owned() }),
    }
}

/// The architecture that `config.json` beside `weights` names, if there is one.
pub(crate) fn architecture(weights: &Path) -> Option<String> {
    let text = fs::read(weights.parent()?.join(CONFIG)).ok()?;
    let config: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some(config.get("model_type")?.as_str()?.to_owned())
}
