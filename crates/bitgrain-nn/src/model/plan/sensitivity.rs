//! `Sensitivities`: weights of the errors of different kinds of tensors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Changes of the predictions of a language model if tensors of a kind are quantized: the Kullback-Leibler divergence in
/// nats per relative squared error of one tensor. `LanguageModel`s measure it on a text.
///
/// ```
/// use bitgrain_nn::model::plan::Sensitivities;
/// assert_eq!(Sensitivities::kind("blk.11.attn_v.weight"), "attn_v");
/// let known = Sensitivities::new([("attn_v".to_owned(), 4.0), ("ffn_up".to_owned(), 1.0)]);
/// assert_eq!(known.of("blk.0.attn_v.weight"), 4.0);
/// assert_eq!(known.of("blk.0.unknown.weight"), 2.0); // the geometric mean
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sensitivities(BTreeMap<String, f64>);

impl Sensitivities {
    /// Creates sensitivities from kinds and positive numbers; others are ignored.
    #[must_use]
    pub fn new(kinds: impl IntoIterator<Item = (String, f64)>) -> Self {
        Self(kinds.into_iter().filter(|(_, value)| *value > 0.0 && value.is_finite()).collect())
    }

    /// Returns the kind of a tensor: its name in GGUF files without the layer and the ending.
    #[must_use]
    pub fn kind(tensor: &str) -> &str {
        let name = tensor.strip_suffix(".weight").unwrap_or(tensor);
        name.strip_prefix("blk.").and_then(|name| name.split_once('.')).map_or(name, |(_, kind)| kind)
    }

    /// Returns the sensitivity of a tensor. Kinds that were not measured get the geometric mean of the others.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a few kinds")]
    pub fn of(&self, tensor: &str) -> f64 {
        let known = self.0.get(Self::kind(tensor)).copied();
        known.unwrap_or_else(|| {
            (self.0.values().map(|value| value.ln()).sum::<f64>() / self.0.len().max(1) as f64).exp()
        })
    }

    /// Returns the measured kinds in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(kind, value)| (kind.as_str(), *value))
    }
}
