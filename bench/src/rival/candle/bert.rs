//! A BERT encoder made of candle's layers, in f32, with the weights of a Hugging Face folder.

use std::fs::File;
use std::path::Path;

use candle_core::{D, DType, Device, Error, Module, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear};
use serde::Deserialize;

use crate::rival::Encoder;

/// Model dimensions from `config.json`.
#[derive(Deserialize)]
struct Config {
    vocab_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    layer_norm_eps: f64,
}

/// Sentence encoder: the mean of the token vectors, normalized.
pub(super) struct Bert {
    words: Embedding,
    positions: Tensor,
    kind: Tensor,
    norm: LayerNorm,
    blocks: Vec<Block>,
}

/// Attention and two dense layers, each with a residual connection and a layer norm.
struct Block {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    first_norm: LayerNorm,
    up: Linear,
    down: Linear,
    second_norm: LayerNorm,
}

impl Bert {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let config = File::open(folder.join("config.json"))?;
        let config: Config = serde_json::from_reader(config).map_err(Error::wrap)?;
        let tensors = candle_core::safetensors::load(folder.join("model.safetensors"), &Device::Cpu)?;
        let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let (hidden, start) = (config.hidden_size, weights.pp("embeddings"));
        let blocks =
            (0..config.num_hidden_layers).map(|at| Block::new(&config, &weights.pp(format!("encoder.layer.{at}"))));
        let positions = embedding(config.max_position_embeddings, hidden, start.pp("position_embeddings"))?;
        let kinds = embedding(config.type_vocab_size, hidden, start.pp("token_type_embeddings"))?;
        Ok(Self {
            words: embedding(config.vocab_size, hidden, start.pp("word_embeddings"))?,
            positions: positions.embeddings().clone(),
            kind: kinds.embeddings().narrow(0, 0, 1)?,
            norm: layer_norm(hidden, config.layer_norm_eps, start.pp("LayerNorm"))?,
            blocks: blocks.collect::<Result<_>>()?,
        })
    }

    fn forward(&self, tokens: &[Vec<u32>]) -> Result<Vec<Vec<f32>>> {
        let length = tokens.iter().map(Vec::len).max().unwrap_or(0);
        let shape = (tokens.len(), length);
        let filled =
            |text: &Vec<u32>| text.iter().copied().chain(std::iter::repeat(0)).take(length).collect::<Vec<_>>();
        let ids = Tensor::from_vec(tokens.iter().flat_map(filled).collect::<Vec<u32>>(), shape, &Device::Cpu)?;
        let there = |text: &Vec<u32>| (0..length).map(|at| f32::from(u8::from(at < text.len()))).collect::<Vec<_>>();
        let mask = Tensor::from_vec(tokens.iter().flat_map(there).collect::<Vec<f32>>(), shape, &Device::Cpu)?;
        // Padding gets the attention weight 0.
        let away = if tokens.iter().all(|text| text.len() == length) {
            None
        } else {
            Some(mask.affine(-f64::from(f32::MIN), f64::from(f32::MIN))?.reshape((tokens.len(), 1, 1, length))?)
        };
        let words = self.words.forward(&ids)?;
        let places = self.positions.narrow(0, 0, length)?.broadcast_add(&self.kind)?;
        let mut x = self.norm.forward(&words.broadcast_add(&places)?)?;
        for block in &self.blocks {
            x = block.forward(&x, away.as_ref())?;
        }
        let mean = x.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?.broadcast_div(&mask.sum_keepdim(1)?)?;
        let length = mean.sqr()?.sum_keepdim(1)?.sqrt()?;
        mean.broadcast_div(&length)?.to_vec2()
    }
}

impl Encoder for Bert {
    fn embed(&self, tokens: &[Vec<u32>]) -> Vec<Vec<f32>> {
        self.forward(tokens).expect("valid tokens")
    }
}

impl Block {
    fn new(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let (hidden, inner, epsilon) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let attention = weights.pp("attention");
        let part = |name: &str| linear(hidden, hidden, attention.pp("self").pp(name));
        Ok(Self {
            heads: config.num_attention_heads,
            query: part("query")?,
            key: part("key")?,
            value: part("value")?,
            output: linear(hidden, hidden, attention.pp("output.dense"))?,
            first_norm: layer_norm(hidden, epsilon, attention.pp("output.LayerNorm"))?,
            up: linear(hidden, inner, weights.pp("intermediate.dense"))?,
            down: linear(inner, hidden, weights.pp("output.dense"))?,
            second_norm: layer_norm(hidden, epsilon, weights.pp("output.LayerNorm"))?,
        })
    }

    fn forward(&self, x: &Tensor, away: Option<&Tensor>) -> Result<Tensor> {
        let (batch, length, hidden) = x.dims3()?;
        let width = hidden / self.heads;
        let by_heads = |layer: &Linear| {
            layer.forward(x)?.reshape((batch, length, self.heads, width))?.transpose(1, 2)?.contiguous()
        };
        let (query, key, value) = (by_heads(&self.query)?, by_heads(&self.key)?, by_heads(&self.value)?);
        let mut scores = (query.matmul(&key.t()?)? / (width as f64).sqrt())?;
        if let Some(away) = away {
            scores = scores.broadcast_add(away)?;
        }
        let seen = softmax_last_dim(&scores)?.matmul(&value)?;
        let seen = seen.transpose(1, 2)?.contiguous()?.flatten_from(D::Minus2)?;
        let x = self.first_norm.forward(&(self.output.forward(&seen)? + x)?)?;
        let dense = self.down.forward(&self.up.forward(&x)?.gelu_erf()?)?;
        self.second_norm.forward(&(dense + x)?)
    }
}
