//! `Recipe`: output format of each tensor.

use std::collections::HashMap;

use bitgrain_codec::NonFinite;
use wildmatch::WildMatch;

use super::FormatChoice;
use crate::model::{ImportanceMatrix, ModelTensor};

/// Output format of each tensor, and options of the conversion.
#[derive(Debug)]
pub struct Recipe {
    default: FormatChoice,
    rules: Vec<(WildMatch, FormatChoice)>,
    /// Choices for single tensors, by name.
    named: HashMap<String, FormatChoice>,
    /// Policy for NaN and infinities in tensors that are quantized.
    pub non_finite: NonFinite,
    /// Per-column error weights.
    pub importance: Option<ImportanceMatrix>,
    /// Maximum shard size in bytes, if the output is a sharded model. A single larger tensor gets its own shard.
    pub shard_bytes: u64,
}

/// Default shard size of Hugging Face's tools in bytes.
const SHARD_BYTES: u64 = 5_000_000_000;

impl Recipe {
    /// Creates a recipe with one format for all weight matrices; vectors and integers are copied.
    #[must_use]
    pub fn new(default: FormatChoice) -> Self {
        Self {
            default,
            rules: Vec::new(),
            named: HashMap::new(),
            non_finite: NonFinite::Reject,
            importance: None,
            shard_bytes: SHARD_BYTES,
        }
    }

    /// Adds a rule for tensors whose names match `pattern`, where `*` matches any characters and `?` exactly one. The
    /// first matching rule wins; it also applies to vectors.
    #[must_use]
    pub fn rule(mut self, pattern: &str, choice: FormatChoice) -> Self {
        self.rules.push((WildMatch::new(pattern), choice));
        self
    }

    /// Sets the choices for single tensors, by name. Rules take precedence.
    #[must_use]
    pub fn with_named(mut self, named: impl IntoIterator<Item = (String, FormatChoice)>) -> Self {
        self.named.extend(named);
        self
    }

    /// Returns whether neither a rule nor a name decides the format of a tensor.
    pub(crate) fn is_free(&self, tensor: &ModelTensor) -> bool {
        let ruled = self.rules.iter().any(|(pattern, _)| pattern.matches(&tensor.name));
        tensor.storage.format().is_some() && tensor.shape.len() > 1 && !ruled
    }

    /// Returns the choice for a tensor. Only weights can be quantized.
    pub(crate) fn choice(&self, tensor: &ModelTensor) -> FormatChoice {
        if tensor.storage.format().is_none() {
            return FormatChoice::Keep;
        }
        self.choice_of(&tensor.name, tensor.shape.len() < 2)
    }

    /// Returns the choice for weights of this name.
    pub(crate) fn choice_of(&self, name: &str, vector: bool) -> FormatChoice {
        let ruled = self.rules.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, choice)| *choice);
        let named = || self.named.get(name).copied();
        ruled.or_else(named).unwrap_or(if vector { FormatChoice::Keep } else { self.default })
    }
}
