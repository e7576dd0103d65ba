//! `Config`: architecture and hyperparameters of a decoder, from the metadata of a GGUF file.

use bitgrain_formats::gguf::{Array, Value};

use super::LanguageError;
use super::keys::Keys;
use super::rotation::Scaling;
use crate::ModelFile;
use crate::model::Container;
use crate::network::layer::Pairs;

/// Architecture of a language model, as named in GGUF files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// Llama 1 to 3, Mistral and Mixtral, and SmolLM 1 and 2.
    Llama,
    /// Qwen 2 and 2.5.
    Qwen2,
    /// Qwen 3 without experts.
    Qwen3,
    /// Qwen 3 with experts.
    Qwen3Moe,
    /// Gemma 3, text only.
    Gemma3,
    /// Phi 3, 3.5 and 4.
    Phi3,
    /// `SmolLM` 3.
    SmolLm3,
}

impl Architecture {
    /// All architectures.
    pub const ALL: [Self; 7] =
        [Self::Llama, Self::Qwen2, Self::Qwen3, Self::Qwen3Moe, Self::Gemma3, Self::Phi3, Self::SmolLm3];

    /// Returns the name in GGUF files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Qwen3Moe => "qwen3moe",
            Self::Gemma3 => "gemma3",
            Self::Phi3 => "phi3",
            Self::SmolLm3 => "smollm3",
        }
    }

    /// Returns which elements of a head rotate together.
    const fn pairs(self) -> Pairs {
        match self {
            Self::Llama | Self::SmolLm3 => Pairs::Neighbors,
            Self::Qwen2 | Self::Qwen3 | Self::Qwen3Moe | Self::Gemma3 | Self::Phi3 => Pairs::Halves,
        }
    }
}

/// Experts of the feed-forward layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Experts {
    /// Number of experts per layer.
    pub(super) count: usize,
    /// Number of experts that each token uses.
    pub(super) used: usize,
    /// Factor of the experts' weights.
    pub(super) scale: f32,
}

/// Hyperparameters of a decoder.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) architecture: Architecture,
    pub(super) layers: usize,
    /// Length of the vectors between layers.
    pub(super) width: usize,
    /// Length of the vectors inside the feed-forward layers, or inside one expert.
    pub(super) inner: usize,
    pub(super) heads: usize,
    /// Heads of keys and values; each serves `heads / kv_heads` heads of queries.
    pub(super) kv_heads: usize,
    pub(super) head: usize,
    pub(super) context: usize,
    pub(super) epsilon: f32,
    /// Factor of the scores before the softmax.
    pub(super) attention_scale: f32,
    /// Factor of the token embeddings.
    pub(super) embedding_scale: f32,
    pub(super) pairs: Pairs,
    /// Number of elements of a head that are rotated.
    pub(super) rotated: usize,
    pub(super) base: f32,
    pub(super) scaling: Scaling,
    pub(super) window: Option<Window>,
    /// Bound of the logits: `cap * tanh(logit / cap)`.
    pub(super) logit_cap: Option<f32>,
    pub(super) experts: Option<Experts>,
}

/// Sliding-window attention of some layers.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// Number of positions that a position sees, including itself.
    pub(super) length: usize,
    /// Base of the rotations in these layers.
    pub(super) base: f32,
    /// Whether each layer uses the window.
    pub(super) layers: Vec<bool>,
}

impl Config {
    /// Reads the metadata of a model.
    pub(super) fn read(model: &ModelFile) -> Result<Self, LanguageError> {
        let path = model.path();
        // A Hugging Face folder that was opened for a conversion has the metadata of the GGUF file.
        if model.container() != Container::Gguf && model.metadata().gguf.is_empty() {
            return Err(LanguageError::NotGguf { path: path.to_owned(), found: model.container().name() });
        }
        let metadata = &model.metadata().gguf;
        let general = Keys { path, metadata, prefix: "" };
        let found = general.text("general.architecture").ok_or_else(|| general.missing("general.architecture"))?;
        let architecture = Architecture::ALL.into_iter().find(|known| known.name() == found).ok_or_else(|| {
            let known = Architecture::ALL.map(Architecture::name).join(", ");
            LanguageError::Architecture { path: path.to_owned(), found: found.to_owned(), known }
        })?;
        Self::of(architecture, Keys { prefix: found, ..general }, model)
    }

    #[expect(clippy::cast_precision_loss, reason = "lengths of vectors")]
    fn of(architecture: Architecture, keys: Keys<'_>, model: &ModelFile) -> Result<Self, LanguageError> {
        let layers = keys.required_size("block_count")?;
        // The number comes from a file: bound it before building layers. Each block has several tensors.
        if layers > model.tensors().len() {
            return Err(keys.wrong("block_count", layers, "at most the number of tensors"));
        }
        let width = keys.required_size("embedding_length")?;
        let heads = keys.required_size("attention.head_count")?;
        let kv_heads = keys.size("attention.head_count_kv")?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(keys.wrong("attention.head_count_kv", kv_heads, format!("a divisor of {heads}")));
        }
        let head = match keys.size("attention.key_length")? {
            Some(head) => head,
            None if width.is_multiple_of(heads) => width / heads,
            None => return Err(keys.missing("attention.key_length")),
        };
        if let Some(value) = keys.size("attention.value_length")?.filter(|value| *value != head) {
            return Err(keys.wrong("attention.value_length", value, format!("the length of the keys, {head}")));
        }
        let rotated = keys.size("rope.dimension_count")?.unwrap_or(head);
        if rotated > head || !rotated.is_multiple_of(2) {
            return Err(keys.wrong("rope.dimension_count", rotated, format!("an even number up to {head}")));
        }
        let experts = experts(architecture, keys)?;
        let inner = match (architecture, experts) {
            (Architecture::Qwen3Moe, Some(_)) => keys.required_size("expert_feed_forward_length")?,
            _ => keys.required_size("feed_forward_length")?,
        };
        let context = keys.required_size("context_length")?;
        let by_head = 1.0 / (head as f32).sqrt();
        let attention_scale = match architecture {
            // The largest model, recognized by its depth as in llama.cpp, divides by another length.
            Architecture::Gemma3 if layers == 62 => 1.0 / ((width / heads) as f32).sqrt(),
            Architecture::Llama | Architecture::SmolLm3 => keys.positive("attention.scale")?.unwrap_or(by_head),
            _ => by_head,
        };
        Ok(Self {
            architecture,
            layers,
            width,
            inner,
            heads,
            kv_heads,
            head,
            context,
            epsilon: keys
                .positive("attention.layer_norm_rms_epsilon")?
                .ok_or_else(|| keys.missing("attention.layer_norm_rms_epsilon"))?,
            attention_scale,
            embedding_scale: if architecture == Architecture::Gemma3 { (width as f32).sqrt() } else { 1.0 },
            pairs: architecture.pairs(),
            rotated,
            base: keys.positive("rope.freq_base")?.unwrap_or(10_000.0),
            scaling: Scaling::read(keys, context)?,
            window: window(architecture, keys, layers)?,
            logit_cap: match architecture {
                Architecture::Gemma3 => keys.float("final_logit_softcapping")?.filter(|cap| *cap > 0.0),
                _ => None,
            },
            experts,
        })
    }

    /// Returns the context length, for models with separate factors for long contexts that of the short ones.
    pub(super) const fn usual_context(&self) -> usize {
        match self.scaling {
            Scaling::Long { trained, .. } => trained,
            _ => self.context,
        }
    }

    /// Returns the length of all queries of a position.
    pub(super) const fn query_width(&self) -> usize {
        self.heads * self.head
    }

    /// Returns the length of all keys, or of all values, of a position.
    pub(super) const fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    /// Returns whether a layer rotates queries and keys.
    pub(super) const fn rotates(&self, layer: usize) -> bool {
        !matches!(self.architecture, Architecture::SmolLm3) || !(layer + 1).is_multiple_of(4)
    }

    /// Returns the window of a layer.
    pub(super) fn window_of(&self, layer: usize) -> Option<usize> {
        self.window.as_ref().filter(|window| window.layers[layer]).map(|window| window.length)
    }
}

fn experts(architecture: Architecture, keys: Keys<'_>) -> Result<Option<Experts>, LanguageError> {
    if !matches!(architecture, Architecture::Llama | Architecture::Qwen3Moe) {
        return Ok(None);
    }
    // Models without experts may state a count of 0.
    if keys.get("expert_count").and_then(Value::as_u64).is_none_or(|count| count == 0) {
        return match architecture {
            Architecture::Qwen3Moe => Err(keys.missing("expert_count")),
            _ => Ok(None),
        };
    }
    let (count, used) = (keys.required_size("expert_count")?, keys.required_size("expert_used_count")?);
    if used > count {
        return Err(keys.wrong("expert_used_count", used, format!("at most {count}")));
    }
    let scale = keys.float("expert_weights_scale")?.filter(|scale| *scale != 0.0).unwrap_or(1.0);
    Ok(Some(Experts { count, used, scale }))
}

fn window(architecture: Architecture, keys: Keys<'_>, layers: usize) -> Result<Option<Window>, LanguageError> {
    // Files of other architectures state windows that llama.cpp does not apply, either.
    if architecture != Architecture::Gemma3 {
        return Ok(None);
    }
    const PATTERN: &str = "attention.sliding_window_pattern";
    let Some(length) = keys.size("attention.sliding_window")? else { return Ok(None) };
    let base = keys.positive("rope.freq_base_swa")?.unwrap_or(10_000.0);
    let layers = match keys.get(PATTERN) {
        Some(Value::Array(Array::Bool(each))) if each.len() == layers => each.clone(),
        Some(Value::Array(array)) => {
            return Err(keys.wrong(PATTERN, format!("array of {}", array.len()), format!("{layers} booleans")));
        }
        _ => {
            // The last layer of each group sees all positions.
            let group = keys.size(PATTERN)?.unwrap_or(6);
            (0..layers).map(|layer| layer % group < group - 1).collect()
        }
    };
    Ok(Some(Window { length, base, layers }))
}
