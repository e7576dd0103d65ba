//! `Architecture`: the supported model families, and their tensor names in both formats.

use super::LanguageConversionError;
use super::config::Config;

/// A model family that can be converted between a Hugging Face folder and GGUF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// Llama, Mistral and Mixtral.
    Llama,
    SmolLm3,
    Qwen2,
    Qwen3,
    Qwen3Moe,
    Gemma3,
    Phi3,
    Bert,
    NomicBert,
}

/// Class names in `config.json`, with `model_type` for files without them.
const CLASSES: [(&str, &str, Architecture); 16] = [
    ("LlamaForCausalLM", "llama", Architecture::Llama),
    ("LLaMAForCausalLM", "llama", Architecture::Llama),
    ("MistralForCausalLM", "mistral", Architecture::Llama),
    ("MixtralForCausalLM", "mixtral", Architecture::Llama),
    ("SmolLM3ForCausalLM", "smollm3", Architecture::SmolLm3),
    ("Qwen2ForCausalLM", "qwen2", Architecture::Qwen2),
    ("Qwen2Model", "qwen2", Architecture::Qwen2),
    ("Qwen3ForCausalLM", "qwen3", Architecture::Qwen3),
    ("Qwen3Model", "qwen3", Architecture::Qwen3),
    ("Qwen3MoeForCausalLM", "qwen3_moe", Architecture::Qwen3Moe),
    ("Gemma3ForCausalLM", "gemma3_text", Architecture::Gemma3),
    ("Gemma3ForConditionalGeneration", "gemma3", Architecture::Gemma3),
    ("Phi3ForCausalLM", "phi3", Architecture::Phi3),
    ("BertModel", "bert", Architecture::Bert),
    ("BertForMaskedLM", "bert", Architecture::Bert),
    ("NomicBertModel", "nomic_bert", Architecture::NomicBert),
];

/// Tensor names: Hugging Face, GGUF. `{}` stands for the number of a block.
pub(super) type Names = &'static [(&'static str, &'static str)];

const DECODER: Names = &[
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("lm_head", "output"),
    ("model.layers.{}.input_layernorm", "blk.{}.attn_norm"),
    ("model.layers.{}.self_attn.q_proj", "blk.{}.attn_q"),
    ("model.layers.{}.self_attn.k_proj", "blk.{}.attn_k"),
    ("model.layers.{}.self_attn.v_proj", "blk.{}.attn_v"),
    ("model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"),
    ("model.layers.{}.self_attn.q_norm", "blk.{}.attn_q_norm"),
    ("model.layers.{}.self_attn.k_norm", "blk.{}.attn_k_norm"),
    ("model.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"),
    ("model.layers.{}.mlp.gate_proj", "blk.{}.ffn_gate"),
    ("model.layers.{}.mlp.up_proj", "blk.{}.ffn_up"),
    ("model.layers.{}.mlp.down_proj", "blk.{}.ffn_down"),
    ("model.layers.{}.mlp.gate", "blk.{}.ffn_gate_inp"),
    ("model.layers.{}.block_sparse_moe.gate", "blk.{}.ffn_gate_inp"),
];

const GEMMA3: Names = &[
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("model.layers.{}.input_layernorm", "blk.{}.attn_norm"),
    ("model.layers.{}.self_attn.q_proj", "blk.{}.attn_q"),
    ("model.layers.{}.self_attn.k_proj", "blk.{}.attn_k"),
    ("model.layers.{}.self_attn.v_proj", "blk.{}.attn_v"),
    ("model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"),
    ("model.layers.{}.self_attn.q_norm", "blk.{}.attn_q_norm"),
    ("model.layers.{}.self_attn.k_norm", "blk.{}.attn_k_norm"),
    ("model.layers.{}.post_attention_layernorm", "blk.{}.post_attention_norm"),
    ("model.layers.{}.pre_feedforward_layernorm", "blk.{}.ffn_norm"),
    ("model.layers.{}.post_feedforward_layernorm", "blk.{}.post_ffw_norm"),
    ("model.layers.{}.mlp.gate_proj", "blk.{}.ffn_gate"),
    ("model.layers.{}.mlp.up_proj", "blk.{}.ffn_up"),
    ("model.layers.{}.mlp.down_proj", "blk.{}.ffn_down"),
];

const PHI3: Names = &[
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("lm_head", "output"),
    ("model.layers.{}.input_layernorm", "blk.{}.attn_norm"),
    ("model.layers.{}.self_attn.qkv_proj", "blk.{}.attn_qkv"),
    ("model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"),
    ("model.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"),
    ("model.layers.{}.mlp.gate_up_proj", "blk.{}.ffn_up"),
    ("model.layers.{}.mlp.down_proj", "blk.{}.ffn_down"),
];

const BERT: Names = &[
    ("embeddings.word_embeddings", "token_embd"),
    ("embeddings.position_embeddings", "position_embd"),
    ("embeddings.token_type_embeddings", "token_types"),
    ("embeddings.LayerNorm", "token_embd_norm"),
    ("encoder.layer.{}.attention.self.query", "blk.{}.attn_q"),
    ("encoder.layer.{}.attention.self.key", "blk.{}.attn_k"),
    ("encoder.layer.{}.attention.self.value", "blk.{}.attn_v"),
    ("encoder.layer.{}.attention.output.dense", "blk.{}.attn_output"),
    ("encoder.layer.{}.attention.output.LayerNorm", "blk.{}.attn_output_norm"),
    ("encoder.layer.{}.intermediate.dense", "blk.{}.ffn_up"),
    ("encoder.layer.{}.output.dense", "blk.{}.ffn_down"),
    ("encoder.layer.{}.output.LayerNorm", "blk.{}.layer_output_norm"),
];

const NOMIC_BERT: Names = &[
    ("embeddings.word_embeddings", "token_embd"),
    ("embeddings.token_type_embeddings", "token_types"),
    ("emb_ln", "token_embd_norm"),
    ("encoder.layers.{}.attn.Wqkv", "blk.{}.attn_qkv"),
    ("encoder.layers.{}.attn.out_proj", "blk.{}.attn_output"),
    ("encoder.layers.{}.norm1", "blk.{}.attn_output_norm"),
    ("encoder.layers.{}.mlp.fc11", "blk.{}.ffn_up"),
    ("encoder.layers.{}.mlp.fc12", "blk.{}.ffn_gate"),
    ("encoder.layers.{}.mlp.fc2", "blk.{}.ffn_down"),
    ("encoder.layers.{}.norm2", "blk.{}.layer_output_norm"),
];

impl Architecture {
    pub(super) const ALL: [Self; 9] = [
        Self::Llama,
        Self::SmolLm3,
        Self::Qwen2,
        Self::Qwen3,
        Self::Qwen3Moe,
        Self::Gemma3,
        Self::Phi3,
        Self::Bert,
        Self::NomicBert,
    ];

    /// Returns the name in GGUF files (`general.architecture`).
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::SmolLm3 => "smollm3",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Qwen3Moe => "qwen3moe",
            Self::Gemma3 => "gemma3",
            Self::Phi3 => "phi3",
            Self::Bert => "bert",
            Self::NomicBert => "nomic-bert",
        }
    }

    /// Determines the architecture of a folder.
    pub(super) fn of_config(config: &Config) -> Result<Self, LanguageConversionError> {
        let class = config.get("architectures").and_then(|all| all.get(0)?.as_str());
        let kind = config.text("model_type");
        let found = CLASSES
            .iter()
            .find(|(name, ..)| class == Some(name))
            .or_else(|| CLASSES.iter().find(|(_, name, _)| class.is_none() && kind == Some(name)));
        found.map(|(.., architecture)| *architecture).ok_or_else(|| LanguageConversionError::Architecture {
            path: config.path().to_owned(),
            architecture: class.or(kind).unwrap_or("unknown").to_owned(),
            supported: Self::supported(),
        })
    }

    /// Returns the names of all architectures, for messages.
    pub(super) fn supported() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Returns whether the model reads text in both directions and does not generate any.
    pub(super) const fn is_encoder(self) -> bool {
        matches!(self, Self::Bert | Self::NomicBert)
    }

    /// Returns whether rows of Q and K are stored as adjacent rotary pairs.
    pub(super) const fn interleaves(self) -> bool {
        matches!(self, Self::Llama | Self::SmolLm3)
    }

    pub(super) const fn names(self) -> Names {
        match self {
            Self::Llama | Self::SmolLm3 | Self::Qwen2 | Self::Qwen3 | Self::Qwen3Moe => DECODER,
            Self::Gemma3 => GEMMA3,
            Self::Phi3 => PHI3,
            Self::Bert => BERT,
            Self::NomicBert => NOMIC_BERT,
        }
    }

    /// Returns the GGUF name of a tensor, without `.weight` or `.bias`.
    pub(super) fn gguf_name(self, stem: &str) -> Option<String> {
        self.names().iter().find_map(|(from, to)| renamed(stem, from, to))
    }

    /// Returns the Hugging Face name of a tensor, without `.weight` or `.bias`.
    pub(super) fn hf_name(self, stem: &str) -> Option<String> {
        self.names().iter().find_map(|(to, from)| renamed(stem, from, to))
    }
}

/// Renames `name` if it matches the pattern `from`, whose `{}` stands for a number.
fn renamed(name: &str, from: &str, to: &str) -> Option<String> {
    let Some((before, after)) = from.split_once("{}") else { return (name == from).then(|| to.to_owned()) };
    let number = name.strip_prefix(before)?.strip_suffix(after)?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| to.replace("{}", number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for architecture in Architecture::ALL {
            for (hf, gguf) in architecture.names() {
                let (hf, gguf) = (hf.replace("{}", "12"), gguf.replace("{}", "12"));
                assert_eq!(architecture.gguf_name(&hf), Some(gguf.clone()), "{hf}");
                assert!(architecture.hf_name(&gguf).is_some_and(|name| architecture.gguf_name(&name) == Some(gguf)));
            }
        }
        assert_eq!(Architecture::Llama.gguf_name("model.layers.x.self_attn.q_proj"), None);
        assert_eq!(Architecture::Llama.gguf_name("model.layers..self_attn.q_proj"), None);
    }
}
