//! `Config`: the `adapter_config.json` of a LoRA adapter.

use std::fs;
use std::path::Path;

use fancy_regex::Regex;
use serde_json::{Map, Value};

use super::AdapterError;

/// Settings that determine the scale of updates.
#[derive(Debug)]
pub(super) struct Config {
    alpha: f64,
    /// Whether the scale is `alpha / sqrt(rank)` instead of `alpha / rank`.
    square_root: bool,
    /// Whether the model stores the matrices transposed.
    pub(super) transposed: bool,
    /// Whether the adapter also stores the length of each row (DoRA).
    pub(super) magnitudes: bool,
    /// Values of alpha for some modules, by name or pattern.
    alphas: Vec<(String, f64)>,
}

impl Config {
    pub(super) fn read(folder: &Path) -> Result<Self, AdapterError> {
        let path = folder.join("adapter_config.json");
        let text = fs::read(&path).map_err(|source| AdapterError::Io { path: path.clone(), source })?;
        let wrong = |reason: String| AdapterError::Config { path: path.clone(), reason };
        let entries: Map<String, Value> =
            serde_json::from_slice(&text).map_err(|error| wrong(format!("not a JSON object: {error}")))?;
        let unsupported =
            |key, found: &Value| AdapterError::Unsupported { path: path.clone(), key, found: found.to_string() };
        let kind = entries.get("peft_type").unwrap_or(&Value::Null);
        if kind.as_str() != Some("LORA") {
            return Err(unsupported("peft_type", kind));
        }
        for key in ["use_qalora", "lora_bias"] {
            if let Some(found @ Value::Bool(true)) = entries.get(key) {
                return Err(unsupported(key, found));
            }
        }
        for key in ["alora_invocation_tokens", "layer_replication", "target_parameters"] {
            if let Some(found) = entries
                .get(key)
                .filter(|found| !found.is_null() && found.as_array().is_none_or(|list| !list.is_empty()))
            {
                return Err(unsupported(key, found));
            }
        }
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
        let alpha = entries.get("lora_alpha").and_then(number);
        let alpha = alpha.ok_or_else(|| wrong("missing `lora_alpha`, or it is not a number".to_owned()))?;
        let flag = |key| entries.get(key).and_then(Value::as_bool).unwrap_or(false);
        let alphas = entries.get("alpha_pattern").and_then(Value::as_object);
        let alphas = alphas.into_iter().flatten().filter_map(|(name, alpha)| Some((name.clone(), number(alpha)?)));
        let (alphas, square_root, transposed) = (alphas.collect(), flag("use_rslora"), flag("fan_in_fan_out"));
        let magnitudes = flag("use_dora");
        if magnitudes && transposed {
            // The length of a column is known only after the whole matrix was read.
            return Err(unsupported("fan_in_fan_out", &Value::Bool(true)));
        }
        Ok(Self { alpha, square_root, transposed, magnitudes, alphas })
    }

    /// Returns the factor of a module's update of this rank.
    #[expect(clippy::cast_possible_truncation, reason = "updates are computed in f32")]
    pub(super) fn scale(&self, module: &str, rank: u32) -> f32 {
        // PEFT matches a pattern at the end of the name, after a dot or at its start.
        let matches = |pattern: &str| {
            Regex::new(&format!(r"(?:^|.*\.)(?:{pattern})$")).is_ok_and(|regex| regex.is_match(module).unwrap_or(false))
        };
        let own = self.alphas.iter().find(|(pattern, _)| matches(pattern)).map(|(_, alpha)| *alpha);
        let rank = f64::from(rank);
        (own.unwrap_or(self.alpha) / if self.square_root { rank.sqrt() } else { rank }) as f32
    }
}
