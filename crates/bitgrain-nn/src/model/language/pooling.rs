//! Pooling of embedding models: `modules.json` of sentence-transformers as llama.cpp's pooling type.

use std::path::Path;

use super::LanguageConversionError;
use super::config::{Config, read_json};

const MEAN: u32 = 1;
const CLS: u32 = 2;
const LAST: u32 = 3;

/// Returns the pooling type of the folder that holds `config`, if it states one.
pub(super) fn read(config: &Path) -> Result<Option<u32>, LanguageConversionError> {
    let folder = config.parent().unwrap_or(Path::new("."));
    let Some(modules) = read_json(&folder.join("modules.json"))? else { return Ok(None) };
    let modules = modules.as_array().map(Vec::as_slice).unwrap_or_default();
    let pooling = modules.iter().find(|one| one["type"].as_str().is_some_and(|kind| kind.ends_with("Pooling")));
    let Some(place) = pooling.and_then(|module| module["path"].as_str()) else { return Ok(None) };
    let path = folder.join(place).join("config.json");
    let Some(own) = Config::read(&path)? else { return Ok(None) };
    let flags = [("pooling_mode_mean_tokens", MEAN), ("pooling_mode_cls_token", CLS), ("pooling_mode_lasttoken", LAST)];
    if let Some((_, kind)) = flags.into_iter().find(|(key, _)| own.flag(key) == Some(true)) {
        return Ok(Some(kind));
    }
    match own.text("pooling_mode") {
        Some("mean") => Ok(Some(MEAN)),
        Some("cls") => Ok(Some(CLS)),
        Some("lasttoken") => Ok(Some(LAST)),
        _ => Err(own.contradiction("unknown pooling; supported: mean, cls and last token".to_owned())),
    }
}
