//! `Config`: architecture of a BERT, from the JSON files of a Hugging Face folder.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::EmbedError;
use crate::network::layer::{ActivationFunction, Pooling};

/// The fields of `config.json` that affect the forward pass.
#[derive(Debug, Clone, Deserialize)]
struct BertJson {
    model_type: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "tiny")]
    layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

/// `sentence_bert_config.json`.
#[derive(Debug, Deserialize)]
struct SentenceJson {
    max_seq_length: Option<usize>,
}

/// `1_Pooling/config.json`.
#[derive(Debug, Deserialize)]
struct PoolingJson {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

fn two() -> usize {
    2
}

fn tiny() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// Architecture of a BERT.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) hidden: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    pub(super) layers: usize,
    pub(super) positions: usize,
    pub(super) tokens: usize,
    pub(super) types: usize,
    pub(super) epsilon: f32,
    pub(super) activation: ActivationFunction,
    pub(super) pooling: Pooling,
    /// Maximum number of tokens per text, including the special tokens at both ends.
    pub(super) longest: usize,
}

impl Config {
    /// Reads `config.json` and, if present, the files that set the maximum length and the pooling; the defaults are 512
    /// tokens and the mean.
    pub(super) fn read(folder: &Path) -> Result<Self, EmbedError> {
        let path = folder.join("config.json");
        let bert: BertJson = read(&path)?;
        if bert.model_type != "bert" {
            return Err(EmbedError::unsupported(&path, "model_type", &bert.model_type, "\"bert\""));
        }
        if bert.position_embedding_type != "absolute" {
            let found = &bert.position_embedding_type;
            return Err(EmbedError::unsupported(&path, "position_embedding_type", found, "\"absolute\""));
        }
        let activation = match bert.hidden_act.as_str() {
            "gelu" => ActivationFunction::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => ActivationFunction::GeluTanh,
            "relu" => ActivationFunction::Relu,
            "silu" | "swish" => ActivationFunction::Silu,
            other => {
                let known = "gelu, gelu_new, gelu_pytorch_tanh, relu, silu or swish";
                return Err(EmbedError::unsupported(&path, "hidden_act", other, known));
            }
        };
        let sentence: Option<SentenceJson> = read_if_there(&folder.join("sentence_bert_config.json"))?;
        let asked = sentence.and_then(|sentence| sentence.max_seq_length);
        let longest = asked.unwrap_or(bert.max_position_embeddings).min(bert.max_position_embeddings);
        if longest < 2 {
            return Err(EmbedError::unsupported(&path, "max_position_embeddings", longest, "at least 2"));
        }
        Ok(Self {
            hidden: bert.hidden_size,
            inner: bert.intermediate_size,
            heads: bert.num_attention_heads,
            layers: bert.num_hidden_layers,
            positions: bert.max_position_embeddings,
            tokens: bert.vocab_size,
            types: bert.type_vocab_size,
            epsilon: bert.layer_norm_eps,
            activation,
            pooling: pooling(folder)?,
            longest,
        })
    }
}

fn pooling(folder: &Path) -> Result<Pooling, EmbedError> {
    let path = folder.join("1_Pooling").join("config.json");
    match read_if_there::<PoolingJson>(&path)? {
        None => Ok(Pooling::Mean),
        Some(PoolingJson { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => Ok(Pooling::Mean),
        Some(PoolingJson { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }) => Ok(Pooling::First),
        Some(_) => Err(EmbedError::unsupported(&path, "pooling_mode", "another mode", "mean_tokens or cls_token")),
    }
}

/// Reads a JSON file.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, EmbedError> {
    let bytes = fs::read(path).map_err(EmbedError::io(path))?;
    serde_json::from_slice(&bytes).map_err(EmbedError::json(path))
}

/// Reads a JSON file, or returns `None` if it does not exist.
pub(super) fn read_if_there<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    if path.is_file() { read(path).map(Some) } else { Ok(None) }
}
