//! Hyperparameters: entries of `config.json` as keys of GGUF metadata, in the order of llama.cpp's converter.

use bitgrain_formats::gguf::{Metadata, Value};

use super::architecture::Architecture;
use super::config::Config;
use super::rope::Rope;
use super::{LanguageConversionError, pooling};

/// Sizes that determine the tensors.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    pub(super) blocks: u32,
    pub(super) width: u32,
    pub(super) feed_forward: u32,
    pub(super) heads: u32,
    pub(super) kv_heads: u32,
    pub(super) head_width: u32,
    pub(super) experts: u32,
    pub(super) expert_width: u32,
    /// Rows of the embedding, if the configuration states them.
    pub(super) vocabulary: Option<u32>,
}

impl Sizes {
    pub(super) fn read(architecture: Architecture, config: &Config) -> Result<Self, LanguageConversionError> {
        let blocks = config.required(&["num_hidden_layers", "n_layer"])?;
        let width = config.required(&["hidden_size", "n_embd"])?;
        let heads = config.required(&["num_attention_heads", "n_head"])?;
        let kv_heads = config.count(&["num_key_value_heads"])?.unwrap_or(match architecture {
            Architecture::Gemma3 => 4,
            _ => heads,
        });
        let head_width = match (config.count(&["head_dim"])?, architecture) {
            (Some(own), _) => own,
            (None, Architecture::Qwen3) => 128,
            (None, Architecture::Gemma3) => 256,
            (None, _) if width % heads == 0 => width / heads,
            (None, _) => {
                let problem = format!("`hidden_size` {width} is not a multiple of `num_attention_heads` {heads}");
                return Err(config.contradiction(problem));
            }
        };
        if heads % kv_heads != 0 {
            let problem =
                format!("`num_attention_heads` {heads} is not a multiple of `num_key_value_heads` {kv_heads}");
            return Err(config.contradiction(problem));
        }
        if architecture.interleaves() && head_width % 2 != 0 {
            return Err(config.contradiction(format!("the head width {head_width} is odd, but rotary pairs need two")));
        }
        let experts = match architecture {
            Architecture::Qwen3Moe | Architecture::Llama => config.count(&["num_local_experts", "num_experts"])?,
            _ => None,
        };
        let feed_forward = config.required(&["intermediate_size", "n_inner"])?;
        let expert_width = config.count(&["moe_intermediate_size"])?.unwrap_or(feed_forward);
        let vocabulary = config.count(&["vocab_size"])?;
        Ok(Self {
            blocks,
            width,
            feed_forward,
            heads,
            kv_heads,
            head_width,
            experts: experts.unwrap_or(0),
            expert_width,
            vocabulary,
        })
    }
}

/// Keys of one architecture.
struct Keys<'a> {
    metadata: &'a mut Metadata,
    prefix: &'static str,
}

impl Keys<'_> {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.metadata.set(format!("{}.{key}", self.prefix), value);
    }

    #[expect(clippy::cast_possible_truncation, reason = "GGUF stores these numbers as f32")]
    fn number(&mut self, key: &str, value: f64) {
        self.set(key, Value::F32(value as f32));
    }
}

/// Adds the keys of an architecture.
pub(super) fn add(
    architecture: Architecture,
    config: &Config,
    sizes: &Sizes,
    rope: &Rope,
    metadata: &mut Metadata,
) -> Result<(), LanguageConversionError> {
    let mut keys = Keys { metadata, prefix: architecture.name() };
    match architecture {
        Architecture::Phi3 => add_phi3(config, sizes, rope, &mut keys)?,
        _ => add_common(architecture, config, sizes, rope, &mut keys)?,
    }
    // The value is set when the formats are known; here it keeps the order of the keys.
    keys.metadata.set("general.file_type", 0_u32);
    let mut keys = Keys { metadata: keys.metadata, prefix: architecture.name() };
    match architecture {
        Architecture::Llama | Architecture::SmolLm3 => {
            keys.set("vocab_size", sizes.vocabulary.ok_or_else(|| config.missing("vocab_size"))?);
            keys.set("rope.dimension_count", sizes.head_width);
        }
        Architecture::Qwen3Moe => keys.set("expert_feed_forward_length", sizes.expert_width),
        Architecture::Gemma3 => {
            if let Some(cap) = config.number(&["final_logit_softcapping"])? {
                keys.number("final_logit_softcapping", cap);
            }
            if config.get("sliding_window_pattern").and_then(serde_json::Value::as_u64) != Some(1) {
                keys.set("attention.sliding_window", config.count(&["sliding_window"])?.unwrap_or(4096));
            }
        }
        Architecture::Bert | Architecture::NomicBert => keys.set("attention.causal", false),
        Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Phi3 => {}
    }
    let pools = architecture.is_encoder() || matches!(architecture, Architecture::Qwen2 | Architecture::Qwen3);
    if let Some(kind) = pools.then(|| pooling::read(config.path())).transpose()?.flatten() {
        keys.set("pooling_type", kind);
    }
    metadata.set("general.quantization_version", 2_u32);
    Ok(())
}

fn add_common(
    architecture: Architecture,
    config: &Config,
    sizes: &Sizes,
    rope: &Rope,
    keys: &mut Keys<'_>,
) -> Result<(), LanguageConversionError> {
    keys.set("block_count", sizes.blocks);
    keys.set("context_length", context(architecture, config)?);
    keys.set("embedding_length", sizes.width);
    keys.set("feed_forward_length", sizes.feed_forward);
    keys.set("attention.head_count", sizes.heads);
    if !architecture.is_encoder() {
        keys.set("attention.head_count_kv", sizes.kv_heads);
    }
    if config.flag("is_causal") == Some(false) {
        keys.set("attention.causal", false);
    }
    if let Some(scaling) = &rope.scaling {
        keys.set("rope.scaling.type", scaling.name);
        if let Some(factor) = scaling.factor {
            keys.number("rope.scaling.factor", factor);
        }
        if let Some(context) = scaling.original_context {
            keys.set("rope.scaling.original_context_length", context);
        }
        for (key, value) in &scaling.numbers {
            keys.number(key, *value);
        }
    }
    if let Some(base) = rope.base {
        keys.number("rope.freq_base", base);
    }
    if let Some(base) = rope.local_base {
        keys.number("rope.freq_base_swa", base);
    }
    if !architecture.is_encoder() {
        let epsilon = config.number(&["rms_norm_eps"])?.unwrap_or(1e-6);
        keys.number("attention.layer_norm_rms_epsilon", epsilon);
    } else {
        let epsilon = config.number(&["layer_norm_eps", "layer_norm_epsilon"])?.unwrap_or(1e-12);
        keys.number("attention.layer_norm_epsilon", epsilon);
    }
    if sizes.experts > 0 {
        keys.set("expert_count", sizes.experts);
        let default = if architecture == Architecture::Qwen3Moe { 8 } else { 2 };
        let used = config.count(&["num_experts_per_tok"])?.unwrap_or(default);
        if used > sizes.experts {
            let problem = format!("`num_experts_per_tok` {used} exceeds the number of experts {}", sizes.experts);
            return Err(config.contradiction(problem));
        }
        keys.set("expert_used_count", used);
    }
    // Configurations of these families have a head width even where the file does not state it.
    let always = match architecture {
        Architecture::Llama => config.text("model_type") != Some("mixtral"),
        Architecture::Qwen3 | Architecture::Gemma3 | Architecture::NomicBert => true,
        _ => false,
    };
    if always || config.get("head_dim").is_some() {
        keys.set("attention.key_length", sizes.head_width);
        keys.set("attention.value_length", sizes.head_width);
    }
    Ok(())
}

/// Returns the context length, with the default of the family.
fn context(architecture: Architecture, config: &Config) -> Result<u32, LanguageConversionError> {
    if architecture == Architecture::NomicBert
        && let Some(positions) = config.count(&["n_positions"])?
    {
        // Trained lengths: the configuration states the length that its rotary scaling extrapolates to.
        let trained = config.count(&["max_trained_positions"])?.unwrap_or(2048);
        return match (positions, trained) {
            (8192, 2048) => Ok(2048),
            (2048, 2048) => Ok(512),
            _ => {
                let problem = format!("unknown lengths: `n_positions` {positions}, `max_trained_positions` {trained}");
                Err(config.contradiction(problem))
            }
        };
    }
    let default = match architecture {
        Architecture::Llama if config.text("model_type") == Some("llama") => 2048,
        Architecture::Llama | Architecture::Gemma3 => 131_072,
        Architecture::Phi3 => 4096,
        Architecture::Bert => 512,
        Architecture::NomicBert => 2048,
        Architecture::SmolLm3 | Architecture::Qwen2 | Architecture::Qwen3 | Architecture::Qwen3Moe => 32_768,
    };
    Ok(config.count(&["max_position_embeddings"])?.unwrap_or(default))
}

fn add_phi3(config: &Config, sizes: &Sizes, rope: &Rope, keys: &mut Keys<'_>) -> Result<(), LanguageConversionError> {
    let context = context(Architecture::Phi3, config)?;
    if let Some(factor) = rope.attention_factor(context) {
        keys.number("rope.scaling.attn_factor", factor);
    }
    keys.set("context_length", context);
    keys.set("rope.scaling.original_context_length", rope.original_context);
    keys.set("embedding_length", sizes.width);
    keys.set("feed_forward_length", sizes.feed_forward);
    keys.set("block_count", sizes.blocks);
    keys.set("attention.head_count", sizes.heads);
    keys.set("attention.head_count_kv", sizes.kv_heads);
    keys.number("attention.layer_norm_rms_epsilon", config.number(&["rms_norm_eps"])?.unwrap_or(1e-5));
    keys.set("rope.dimension_count", rope.dimensions);
    keys.number("rope.freq_base", rope.base.unwrap_or(10_000.0));
    // llama.cpp tells Phi-4 from Phi-3 by a window of zero.
    keys.set("attention.sliding_window", config.count(&["sliding_window"])?.unwrap_or(0));
    Ok(())
}
