//! `config.json` from the hyperparameters of a GGUF file.

use std::path::{Path, PathBuf};

use bitgrain_formats::gguf::{Metadata, Value};
use serde_json::{Map, Value as Json, json};

use super::LanguageConversionError;
use super::architecture::Architecture;
use crate::model::ModelFile;

/// Metadata of a GGUF file, read with typed errors.
pub(super) struct Keys<'a> {
    path: PathBuf,
    metadata: &'a Metadata,
    prefix: String,
}

impl<'a> Keys<'a> {
    pub(super) fn new(path: &Path, metadata: &'a Metadata) -> Self {
        let prefix = metadata.get("general.architecture").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { path: path.to_owned(), metadata, prefix }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.metadata.get(key)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// Returns an integer of the architecture.
    pub(super) fn own(&self, key: &str) -> Option<u64> {
        self.get(&format!("{}.{key}", self.prefix))?.as_u64()
    }

    pub(super) fn needed(&self, key: &str) -> Result<u64, LanguageConversionError> {
        let missing =
            || LanguageConversionError::MissingKey { path: self.path.clone(), key: format!("{}.{key}", self.prefix) };
        self.own(key).ok_or_else(missing)
    }

    /// Returns a float of the architecture as the shortest decimal that gives the same f32.
    fn float(&self, key: &str) -> Option<f64> {
        match self.get(&format!("{}.{key}", self.prefix))? {
            Value::F32(value) => value.to_string().parse().ok(),
            Value::F64(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the id of a special token.
    pub(super) fn token(&self, key: &str) -> Option<u64> {
        self.get(&format!("tokenizer.ggml.{key}_token_id"))?.as_u64()
    }
}

/// Sizes that determine the tensors' names and order.
pub(super) struct Shape {
    pub(super) head_width: u64,
    heads: u64,
    width: u64,
    experts: u64,
    llama: bool,
}

impl Shape {
    pub(super) fn read(architecture: Architecture, keys: &Keys<'_>) -> Result<Self, LanguageConversionError> {
        let (heads, width) = (keys.needed("attention.head_count")?, keys.needed("embedding_length")?);
        let head_width = match keys.own("attention.key_length").or_else(|| keys.own("rope.dimension_count")) {
            Some(own) => own,
            None => width.checked_div(heads).unwrap_or(0),
        };
        if head_width == 0 || head_width % 2 != 0 || heads == 0 {
            return Err(LanguageConversionError::Contradiction {
                path: keys.path.clone(),
                problem: format!("impossible head width {head_width} with {heads} heads"),
            });
        }
        let experts = keys.own("expert_count").unwrap_or(0);
        Ok(Self { head_width, heads, width, experts, llama: architecture == Architecture::Llama })
    }

    pub(super) const fn is_mixtral(&self) -> bool {
        self.llama && self.experts > 0
    }

    /// Returns the name of one expert's matrix.
    pub(super) fn expert_name(&self, block: &str, expert: u64, part: &str) -> String {
        let own = match part {
            "gate" => "w1",
            "down" => "w2",
            _ => "w3",
        };
        if self.is_mixtral() {
            format!("model.layers.{block}.block_sparse_moe.experts.{expert}.{own}.weight")
        } else {
            format!("model.layers.{block}.mlp.experts.{expert}.{part}_proj.weight")
        }
    }
}

/// Builds `config.json`.
pub(super) fn config(
    architecture: Architecture,
    keys: &Keys<'_>,
    shape: &Shape,
    model: &ModelFile,
) -> Result<Json, LanguageConversionError> {
    let (class, kind) = match architecture {
        Architecture::Llama if shape.experts > 0 => ("MixtralForCausalLM", "mixtral"),
        Architecture::Llama => ("LlamaForCausalLM", "llama"),
        Architecture::SmolLm3 => ("SmolLM3ForCausalLM", "smollm3"),
        Architecture::Qwen2 => ("Qwen2ForCausalLM", "qwen2"),
        Architecture::Qwen3 => ("Qwen3ForCausalLM", "qwen3"),
        Architecture::Qwen3Moe => ("Qwen3MoeForCausalLM", "qwen3_moe"),
        Architecture::Gemma3 => ("Gemma3ForCausalLM", "gemma3_text"),
        Architecture::Phi3 => ("Phi3ForCausalLM", "phi3"),
        Architecture::Bert | Architecture::NomicBert => ("BertModel", "bert"),
    };
    let has = |name: &str| model.tensor(name).is_ok();
    let tokens = model.tensor("token_embd.weight").map_or(0, |tensor| tensor.rows());
    let mut config = Map::new();
    let mut set = |key: &str, value: Json| drop(config.insert(key.to_owned(), value));
    set("architectures", json!([class]));
    set("model_type", kind.into());
    set("torch_dtype", "bfloat16".into());
    set("vocab_size", tokens.into());
    set("hidden_size", shape.width.into());
    set("num_hidden_layers", keys.needed("block_count")?.into());
    set("num_attention_heads", shape.heads.into());
    set("num_key_value_heads", keys.own("attention.head_count_kv").unwrap_or(shape.heads).into());
    set("intermediate_size", keys.needed("feed_forward_length")?.into());
    set("max_position_embeddings", keys.needed("context_length")?.into());
    set("tie_word_embeddings", (!has("output.weight")).into());
    if shape.head_width * shape.heads != shape.width || !matches!(architecture, Architecture::Phi3) {
        set("head_dim", shape.head_width.into());
    }
    if let Some(epsilon) = keys.float("attention.layer_norm_rms_epsilon") {
        set("rms_norm_eps", epsilon.into());
    }
    set("rope_theta", keys.float("rope.freq_base").unwrap_or(10_000.0).into());
    set("attention_bias", has("blk.0.attn_q.bias").into());
    match architecture {
        Architecture::Gemma3 => {
            set("hidden_activation", "gelu_pytorch_tanh".into());
            set("rope_local_base_freq", keys.float("rope.freq_base_swa").unwrap_or(10_000.0).into());
            set("query_pre_attn_scalar", shape.head_width.into());
            keys.own("attention.sliding_window").into_iter().for_each(|window| set("sliding_window", window.into()));
        }
        Architecture::Phi3 => {
            let context = keys.own("rope.scaling.original_context_length");
            context.into_iter().for_each(|context| set("original_max_position_embeddings", context.into()));
            let window = keys.own("attention.sliding_window").filter(|window| *window > 0);
            window.into_iter().for_each(|window| set("sliding_window", window.into()));
            set("hidden_act", "silu".into());
        }
        _ => set("hidden_act", "silu".into()),
    }
    if shape.experts > 0 {
        set(if shape.is_mixtral() { "num_local_experts" } else { "num_experts" }, shape.experts.into());
        keys.own("expert_used_count").into_iter().for_each(|used| set("num_experts_per_tok", used.into()));
        let width = keys.own("expert_feed_forward_length");
        width.into_iter().for_each(|width| set("moe_intermediate_size", width.into()));
        // llama.cpp always normalizes the weights of the chosen experts.
        set("norm_topk_prob", true.into());
    }
    if let Some(scaling) = scaling(keys, model)? {
        set("rope_scaling", scaling);
    }
    for (role, key) in [("bos", "bos"), ("eos", "eos"), ("pad", "padding")] {
        keys.token(key).into_iter().for_each(|id| set(&format!("{role}_token_id"), id.into()));
    }
    Ok(Json::Object(config))
}

/// Builds the entry that describes scaled positions.
fn scaling(keys: &Keys<'_>, model: &ModelFile) -> Result<Option<Json>, LanguageConversionError> {
    let factors = |name: &str| model.tensor(name).ok().and_then(|tensor| tensor.values().ok());
    if factors("rope_freqs.weight").is_some() {
        // The tensor holds the result of a formula; its parameters cannot be recovered exactly.
        return Err(LanguageConversionError::Contradiction {
            path: keys.path.clone(),
            problem:
                "`rope_freqs.weight` scales positions by factors that config.json cannot express; use the original \
                      Hugging Face folder"
                    .to_owned(),
        });
    }
    if let (Some(long), Some(short)) = (factors("rope_factors_long.weight"), factors("rope_factors_short.weight")) {
        return Ok(Some(json!({"type": "longrope", "long_factor": long, "short_factor": short})));
    }
    let Some(kind) = keys.text(&format!("{}.rope.scaling.type", keys.prefix)).filter(|kind| *kind != "none") else {
        return Ok(None);
    };
    let mut entry = json!({"rope_type": kind});
    if let Some(factor) = keys.float("rope.scaling.factor") {
        entry["factor"] = factor.into();
    }
    if let Some(context) = keys.own("rope.scaling.original_context_length") {
        entry["original_max_position_embeddings"] = context.into();
    }
    Ok(Some(entry))
}

/// Builds `generation_config.json`.
pub(super) fn generation(keys: &Keys<'_>) -> Json {
    let mut config = Map::new();
    for (role, key) in [("bos", "bos"), ("eos", "eos"), ("pad", "padding")] {
        keys.token(key).into_iter().for_each(|id| drop(config.insert(format!("{role}_token_id"), id.into())));
    }
    for (name, key) in
        [("temperature", "temp"), ("top_p", "top_p"), ("min_p", "min_p"), ("repetition_penalty", "penalty_repeat")]
    {
        if let Some(Value::F32(value)) = keys.get(&format!("general.sampling.{key}")) {
            let value: Option<f64> = value.to_string().parse().ok();
            value.into_iter().for_each(|value| drop(config.insert(name.to_owned(), value.into())));
        }
    }
    if let Some(Value::I32(top)) = keys.get("general.sampling.top_k") {
        config.insert("top_k".to_owned(), (*top).into());
    }
    Json::Object(config)
}
