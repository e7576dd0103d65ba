//! `Recipe`: which tensor becomes what.

use std::collections::HashMap;

use bitgrain_codec::NonFinite;
use wildmatch::WildMatch;

use super::FormatChoice;
use crate::model::{ImportanceMatrix, ModelTensor};

/// Which tensor becomes what, and how.
#[derive(Debug)]
pub struct Recipe {
    default: FormatChoice,
    rules: Vec<(WildMatch, FormatChoice)>,
    /// What becomes of single tensors, by name.
    named: HashMap<String, FormatChoice>,
    /// What to do with NaN and infinities in tensors that are quantized.
    pub non_finite: NonFinite,
    /// How much the errors of each column matter.
    pub importance: Option<ImportanceMatrix>,
    /// Bytes of a shard at most, unless one tensor has more; where the output is the index of a sharded model.
    pub shard_bytes: u64,
}

/// What Hugging Face's tools make a shard.
const SHARD_BYTES: u64 = 5_000_000_000;

impl Recipe {
    /// Every weight matrix in one format; vectors and integers are kept.
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

    /// Adds a rule for the tensors whose name matches `pattern`, in which `*` stands for any characters and `?` for
    /// one. The first rule that matches decides, for vectors too.
    #[must_use]
    pub fn rule(mut self, pattern: &str, choice: FormatChoice) -> Self {
        self.rules.push((WildMatch::new(pattern), choice));
        self
    }

    /// Says what becomes of single tensors, by name. Rules come before that.
    #[must_use]
    pub fn with_named(mut self, named: impl IntoIterator<Item = (String, FormatChoice)>) -> Self {
        self.named.extend(named);
        self
    }

    /// Whether the recipe leaves it open what a tensor becomes.
    pub(crate) fn is_free(&self, tensor: &ModelTensor) -> bool {
        let ruled = self.rules.iter().any(|(pattern, _)| pattern.matches(&tensor.name));
        tensor.storage.format().is_some() && tensor.shape.len() > 1 && !ruled
    }

    /// What a tensor becomes. Only weights can be quantized.
    pub(crate) fn choice(&self, tensor: &ModelTensor) -> FormatChoice {
        if tensor.storage.format().is_none() {
            return FormatChoice::Keep;
        }
        self.choice_of(&tensor.name, tensor.shape.len() < 2)
    }

    /// What weights of that name become.
    pub(crate) fn choice_of(&self, name: &str, vector: bool) -> FormatChoice {
        let ruled = self.rules.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, choice)| *choice);
        let named = || self.named.get(name).copied();
        ruled.or_else(named).unwrap_or(if vector { FormatChoice::Keep } else { self.default })
    }
}
