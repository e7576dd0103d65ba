//! Hugging Face folders: the weight file and `config.json`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::model::ModelFileError;

const ONE_FILE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const CONFIG: &str = "config.json";

/// Returns the weight file of a folder: the index of its shards, `model.safetensors`, or the only model file.
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

/// Returns the architecture from the `config.json` next to `weights`, if that file exists.
pub(crate) fn architecture(weights: &Path) -> Option<String> {
    let text = fs::read(weights.parent()?.join(CONFIG)).ok()?;
    let config: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some(config.get("model_type")?.as_str()?.to_owned())
}
