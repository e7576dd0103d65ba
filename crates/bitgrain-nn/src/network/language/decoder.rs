//! `Decoder`: a language model that maps tokens to logits, on the quantized weights of a GGUF file.

use rayon::prelude::*;

use super::LanguageError;
use super::attention::attend;
use super::cache::{CacheFormat, KeyValueCache};
use super::config::{Architecture, Config};
use super::feed_forward::FeedForward;
use super::loader::Loader;
use super::pass::{Pass, Watch};
use super::projection::Projection;
use super::rotation::{Angles, Rotation};
use crate::ModelFile;
use crate::model::Rows;

/// Number of tokens that pass through the layers together; a longer text is split, which bounds memory.
const TOGETHER: usize = 512;

/// A transformer that predicts the next token, with weights in the formats of its file.
///
/// Matrices are held packed for products; the table of an untied embedding stays mapped.
#[derive(Debug)]
pub struct Decoder {
    config: Config,
    tokens: usize,
    longest: usize,
    /// The embedding table, unless it is also the output matrix.
    table: Option<Table>,
    blocks: Vec<Block>,
    norm: Vec<f32>,
    output: Projection,
    global: Rotation,
    local: Rotation,
}

/// An embedding table that is not the output matrix.
#[derive(Debug)]
enum Table {
    Mapped(Rows),
    Packed(Projection),
}

/// One layer.
#[derive(Debug)]
struct Block {
    attention_norm: Vec<f32>,
    query_key_value: Projection,
    /// Norms of each head of queries and of keys.
    head_norms: Option<[Vec<f32>; 2]>,
    output: Projection,
    after_attention: Option<Vec<f32>>,
    feed_forward_norm: Vec<f32>,
    feed_forward: FeedForward,
    after_feed_forward: Option<Vec<f32>>,
}

impl Decoder {
    /// Loads a model. `context` limits the number of tokens; the default is the context length of the model, or for
    /// models with separate factors for long contexts, that of the short ones.
    ///
    /// # Errors
    /// Returns [`LanguageError::NotGguf`], [`LanguageError::Architecture`], missing or invalid metadata, and missing or
    /// invalid tensors.
    pub fn load(model: &ModelFile, context: Option<usize>) -> Result<Self, LanguageError> {
        Self::load_from(Loader::new(model), context)
    }

    /// Like [`load`](Self::load), with the matrices of a loader.
    pub(super) fn load_from(loader: Loader<'_>, context: Option<usize>) -> Result<Self, LanguageError> {
        let model = loader.model;
        let config = Config::read(model)?;
        let longest = context.unwrap_or_else(|| config.usual_context());
        if longest == 0 || longest > config.context {
            return Err(LanguageError::Setting {
                name: "context",
                value: longest.to_string(),
                wanted: "at least 1 and at most the context length of the model",
            });
        }
        let embedding = model.tensor("token_embd.weight")?;
        let tokens = match embedding.shape[..] {
            [tokens, width] if width == config.width as u64 && tokens > 0 => usize::try_from(tokens).unwrap_or(0),
            _ => 0,
        };
        let embedding = loader.tensor("token_embd.weight", &[tokens as u64, config.width as u64])?;
        let tied = model.tensor("output.weight").is_err();
        let name = if tied { "token_embd" } else { "output" };
        let output = Projection::load(loader, &[name.to_owned()], &[tokens], config.width)?;
        let table = || match loader.substitute(embedding) {
            None => Ok(Table::Mapped(embedding.load()?)),
            Some(_) => Projection::load(loader, &["token_embd".to_owned()], &[tokens], config.width).map(Table::Packed),
        };
        let blocks: Vec<Result<Block, LanguageError>> =
            (0..config.layers).into_par_iter().map(|at| Block::load(loader, &config, at)).collect();
        Ok(Self {
            tokens,
            longest,
            table: if tied { None } else { Some(table()?) },
            // Of several errors, the first is reported, whichever thread found one first.
            blocks: blocks.into_iter().collect::<Result<_, _>>()?,
            norm: loader.vector("output_norm.weight", config.width)?,
            output,
            global: Rotation::new(&config, model, false, longest)?,
            local: Rotation::new(&config, model, true, longest)?,
            config,
        })
    }

    /// Returns the default maximum number of tokens of a model without loading it.
    pub(super) fn context(model: &ModelFile) -> Result<usize, LanguageError> {
        Ok(Config::read(model)?.usual_context())
    }

    /// Returns the architecture.
    #[must_use]
    pub const fn architecture(&self) -> Architecture {
        self.config.architecture
    }

    /// Returns the number of tokens in the vocabulary: the length of the logits.
    #[must_use]
    pub const fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the maximum number of tokens of a text.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the size in bytes of all weights in memory. An embedding table that stays mapped does not count.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.output.bytes() + self.blocks.iter().map(Block::bytes).sum::<usize>()
    }

    /// Returns the number of experts per layer, 1 for a model without.
    pub(super) fn experts(&self) -> usize {
        self.config.experts.map_or(1, |experts| experts.count)
    }

    /// Creates an empty cache.
    ///
    /// # Errors
    /// Returns [`LanguageError::CacheFormat`] if the format's blocks do not divide the heads.
    pub fn cache(&self, format: CacheFormat) -> Result<KeyValueCache, LanguageError> {
        KeyValueCache::new(&self.config, format)
    }

    /// Reads tokens after those in the cache, and returns the logits after each token from index `from` (0-based) to the last.
    ///
    /// # Errors
    /// Returns [`LanguageError::Token`], [`LanguageError::TooLong`], and [`LanguageError::Weights`] if activations
    /// overflow; the cache is then unchanged.
    pub fn forward(&self, tokens: &[u32], cache: &mut KeyValueCache, from: usize) -> Result<Vec<f32>, LanguageError> {
        self.run(tokens, cache, from, &mut Pass::default())
    }

    /// Like [`forward`](Self::forward), and passes the inputs of each matrix to `watch`.
    pub(super) fn forward_watched(
        &self,
        tokens: &[u32],
        cache: &mut KeyValueCache,
        from: usize,
        watch: Watch<'_>,
    ) -> Result<Vec<f32>, LanguageError> {
        self.run(tokens, cache, from, &mut Pass::watched(watch))
    }

    fn run(
        &self,
        tokens: &[u32],
        cache: &mut KeyValueCache,
        from: usize,
        pass: &mut Pass<'_>,
    ) -> Result<Vec<f32>, LanguageError> {
        if let Some(id) = tokens.iter().find(|id| **id as usize >= self.tokens) {
            return Err(LanguageError::Token { id: *id, tokens: self.tokens });
        }
        let before = cache.len();
        let all = before + tokens.len();
        if all > self.longest {
            return Err(LanguageError::TooLong { tokens: all, longest: self.longest });
        }
        let mut logits = Vec::new();
        for (at, some) in tokens.chunks(TOGETHER).enumerate() {
            match self.part(some, cache, from.saturating_sub(at * TOGETHER), pass) {
                Ok(more) => logits.extend(more),
                Err(error) => {
                    cache.truncate(before);
                    return Err(error);
                }
            }
        }
        Ok(logits)
    }

    /// Reads a few tokens.
    fn part(
        &self,
        tokens: &[u32],
        cache: &mut KeyValueCache,
        from: usize,
        pass: &mut Pass<'_>,
    ) -> Result<Vec<f32>, LanguageError> {
        let (config, count) = (&self.config, tokens.len());
        let mut x = vec![0.0; count * config.width];
        for (id, row) in tokens.iter().zip(x.chunks_exact_mut(config.width)) {
            let id = *id as usize;
            match &self.table {
                Some(Table::Mapped(table)) => table.decode(id..id + 1, row)?,
                Some(Table::Packed(table)) => table.row_into(id, row)?,
                None => self.output.row_into(id, row)?,
            }
            if config.embedding_scale != 1.0 {
                row.iter_mut().for_each(|value| *value *= config.embedding_scale);
            }
        }
        let angles = [&self.global, &self.local].map(|rotation| rotation.angles(cache.len(), count));
        for (at, block) in self.blocks.iter().enumerate() {
            let angles = config.rotates(at).then_some(&angles[usize::from(config.window_of(at).is_some())]);
            block.forward(config, at, &mut x, cache, angles, pass)?;
        }
        cache.advance(count);
        let wanted = &x[(from * config.width).min(x.len())..];
        let rows = wanted.len() / config.width;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let x = normalized(wanted, &self.norm, config.epsilon);
        let mut logits = self.output.apply(&x, rows, 0, pass)?;
        if let Some(cap) = config.logit_cap {
            logits.iter_mut().for_each(|logit| *logit = cap * (*logit / cap).tanh());
        }
        Ok(logits)
    }
}

impl Block {
    fn load(loader: Loader<'_>, config: &Config, at: usize) -> Result<Self, LanguageError> {
        let name = |part: &str| format!("blk.{at}.{part}");
        let (width, queries, keys) = (config.width, config.query_width(), config.kv_width());
        let widths = [queries, keys, keys];
        // Files may hold the three matrices as one.
        let names = if loader.model.tensor(&name("attn_qkv.weight")).is_ok() {
            vec![name("attn_qkv")]
        } else {
            ["attn_q", "attn_k", "attn_v"].map(name).to_vec()
        };
        let norm = |part: &str, len: usize| loader.vector(&name(part), len);
        let head_norms = match config.architecture {
            Architecture::Qwen3 | Architecture::Qwen3Moe | Architecture::Gemma3 => {
                Some([norm("attn_q_norm.weight", config.head)?, norm("attn_k_norm.weight", config.head)?])
            }
            _ => None,
        };
        let after = |part: &str| match config.architecture {
            Architecture::Gemma3 => norm(part, width).map(Some),
            _ => Ok(None),
        };
        Ok(Self {
            attention_norm: norm("attn_norm.weight", width)?,
            query_key_value: Projection::load(loader, &names, &widths, width)?,
            head_norms,
            output: Projection::load(loader, &[name("attn_output")], &[width], queries)?,
            after_attention: after("post_attention_norm.weight")?,
            feed_forward_norm: norm("ffn_norm.weight", width)?,
            feed_forward: FeedForward::load(loader, config, at)?,
            after_feed_forward: after("post_ffw_norm.weight")?,
        })
    }

    fn bytes(&self) -> usize {
        self.query_key_value.bytes() + self.output.bytes() + self.feed_forward.bytes()
    }

    /// Adds the outputs of attention and feed-forward layer to `x`.
    fn forward(
        &self,
        config: &Config,
        at: usize,
        x: &mut [f32],
        cache: &mut KeyValueCache,
        angles: Option<&Angles<'_>>,
        pass: &mut Pass<'_>,
    ) -> Result<(), LanguageError> {
        let batch = x.len() / config.width;
        let inputs = normalized(x, &self.attention_norm, config.epsilon);
        let mut parts = self.query_key_value.multiply(&inputs, batch, 0, pass)?.into_iter();
        let [mut queries, mut keys, values] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        for (at, values) in [&mut queries, &mut keys].into_iter().enumerate() {
            if let Some(norms) = &self.head_norms {
                normalize(values, &norms[at], config.epsilon);
            }
            if let Some(angles) = angles {
                let width = values.len() / batch;
                for (row, values) in values.chunks_exact_mut(width).enumerate() {
                    angles.rotate(row, values, config.head);
                }
            }
        }
        cache.append(at, &keys, &values)?;
        let heads = attend(config, at, &queries, cache, batch)?;
        let mut out = self.output.apply(&heads, batch, 0, pass)?;
        if let Some(norm) = &self.after_attention {
            normalize(&mut out, norm, config.epsilon);
        }
        x.iter_mut().zip(&out).for_each(|(x, out)| *x += out);
        let inputs = normalized(x, &self.feed_forward_norm, config.epsilon);
        let mut out = self.feed_forward.forward(&inputs, batch, pass)?;
        if let Some(norm) = &self.after_feed_forward {
            normalize(&mut out, norm, config.epsilon);
        }
        x.iter_mut().zip(&out).for_each(|(x, out)| *x += out);
        Ok(())
    }
}

fn normalized(x: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let mut out = x.to_vec();
    normalize(&mut out, weight, epsilon);
    out
}

/// Normalizes rows to mean square 1 and multiplies them with a weight per element.
#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn normalize(x: &mut [f32], weight: &[f32], epsilon: f32) {
    for row in x.chunks_exact_mut(weight.len()) {
        // Eight independent sums, which the compiler turns into vectors.
        let (chunks, rest) = row.as_chunks::<8>();
        let mut sums = [0.0_f32; 8];
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x * x);
        }
        let squares = sums.iter().sum::<f32>() + rest.iter().map(|x| x * x).sum::<f32>();
        let factor = 1.0 / (squares / weight.len() as f32 + epsilon).sqrt();
        row.iter_mut().zip(weight).for_each(|(x, weight)| *x *= factor * weight);
    }
}
