//! `Recipe`: output format of each tensor.

use std::collections::HashMap;

use bitgrain_codec::NonFinite;
use bitgrain_codec::weight::WeightFormat;
use wildmatch::WildMatch;

use super::scheme::is_linear;
use super::{FormatChoice, Mix, Scheme};
use crate::model::plan::Sensitivities;
use crate::model::{ImportanceMatrix, ModelFile, ModelFileError, ModelTensor};

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
    /// Weights of the errors of different tensors, for plans within a budget.
    pub sensitivities: Option<Sensitivities>,
    /// Maximum shard size in bytes, if the output is a sharded model. A single larger tensor gets its own shard.
    pub shard_bytes: u64,
    /// Whether a GGUF output is split into shards of at most `shard_bytes`.
    pub split_gguf: bool,
    /// Encoding of linear layers for other programs; the default format is then the scheme's.
    pub(crate) scheme: Option<Scheme>,
    /// llama.cpp's number of the file type, if the formats are those of a named mix.
    pub(crate) file_type: Option<u32>,
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
            sensitivities: None,
            shard_bytes: SHARD_BYTES,
            split_gguf: false,
            scheme: None,
            file_type: None,
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

    /// Sets the formats of a named mix. Rules take precedence.
    ///
    /// # Errors
    /// Returns the errors of [`Mix::choices`].
    pub fn with_mix(mut self, mix: Mix, model: &ModelFile) -> Result<Self, ModelFileError> {
        let choices = mix.choices(model, self.importance.as_ref())?;
        self.file_type = Some(mix.number());
        Ok(self.with_named(choices))
    }

    /// Sets the scheme of linear layers; all other tensors are kept unless a rule matches them.
    pub(super) fn set_scheme(&mut self, scheme: Scheme, format: WeightFormat) {
        (self.scheme, self.default) = (Some(scheme), FormatChoice::To(format));
    }

    /// Returns whether neither a rule nor a name decides the format of a tensor.
    pub(crate) fn is_free(&self, tensor: &ModelTensor) -> bool {
        let ruled = self.rules.iter().any(|(pattern, _)| pattern.matches(&tensor.name));
        tensor.storage.format().is_some() && !is_kept(tensor) && !ruled
    }

    /// Returns the choice for a tensor. Only weights can be quantized.
    pub(crate) fn choice(&self, tensor: &ModelTensor) -> FormatChoice {
        let schemed = self.scheme.is_some() && self.schemed(tensor).is_none();
        if tensor.storage.format().is_none() {
            return FormatChoice::Keep;
        }
        if schemed {
            return self.choice_of(&tensor.name, true);
        }
        self.choice_of(&tensor.name, is_kept(tensor))
    }

    /// Returns the scheme and format of a tensor, if it is the weight of a linear layer that the scheme applies to.
    pub(super) fn schemed(&self, tensor: &ModelTensor) -> Option<(Scheme, WeightFormat)> {
        let ruled = self.rules.iter().any(|(pattern, _)| pattern.matches(&tensor.name));
        match (self.scheme, self.default) {
            (Some(scheme), FormatChoice::To(format))
                if !ruled && is_linear(tensor) && tensor.storage.format().is_some() =>
            {
                Some((scheme, format))
            }
            _ => None,
        }
    }

    /// Returns the choice for weights of this name. `kept` are those that keep their encoding by default.
    pub(crate) fn choice_of(&self, name: &str, kept: bool) -> FormatChoice {
        let ruled = self.rules.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, choice)| *choice);
        let named = || self.named.get(name).copied();
        ruled.or_else(named).unwrap_or(if kept { FormatChoice::Keep } else { self.default })
    }
}

/// Returns whether a tensor keeps its encoding unless a rule names it: vectors, and matrices that readers expect as floats.
fn is_kept(tensor: &ModelTensor) -> bool {
    tensor.shape.len() < 2 || tensor.view.as_ref().is_some_and(|view| view.fixed)
}
