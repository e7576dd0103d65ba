//! `SentenceEncoder`: a tokenizer and a network that map sentences to unit vectors.

use std::path::Path;

use bitgrain_codec::weight::WeightFormat;

use super::config::Config;
use super::{EmbedError, WordPiece, bert};
use crate::ModelFile;
use crate::network::observe::{Observer, observe, observe_products};
use crate::network::{InputBatch, Network, NetworkError};

/// Number of sentences per forward pass.
const TOGETHER: usize = 32;

/// A BERT that maps sentences to unit vectors; similar sentences have a large dot product.
///
/// ```no_run
/// use bitgrain_nn::network::embed::SentenceEncoder;
/// let mut encoder = SentenceEncoder::open("all-MiniLM-L6-v2")?;
/// encoder.morph(bitgrain_codec::weight::DType::Int8)?;
/// let vectors = encoder.embed(&["A man plays the guitar.", "Someone makes music."])?;
/// let similarity: f32 = vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum();
/// # Ok::<(), bitgrain_nn::network::embed::EmbedError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SentenceEncoder {
    tokenizer: WordPiece,
    network: Network,
    longest: usize,
    pad: u32,
}

impl SentenceEncoder {
    /// Opens a Hugging Face folder with `config.json`, the weights as `model.safetensors` (or shards), `tokenizer.json`
    /// or `vocab.txt`, and optionally `sentence_bert_config.json` and `1_Pooling/config.json`.
    ///
    /// # Errors
    /// Returns an [`EmbedError`] for missing files, tensors of another shape and other kinds of models.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, EmbedError> {
        let folder = folder.as_ref();
        let config = Config::read(folder)?;
        let tokenizer = WordPiece::open(folder)?;
        let rows = config.tokens;
        if usize::try_from(tokenizer.last()).is_ok_and(|last| last >= rows) {
            return Err(EmbedError::VocabularySize { path: tokenizer.path().to_owned(), id: tokenizer.last(), rows });
        }
        let network = bert::network(&config, &ModelFile::open(folder)?)?;
        let pad = tokenizer.pad();
        Ok(Self { tokenizer, network, longest: config.longest, pad })
    }

    /// Switches all matrices to `format`; norms and biases stay at f32.
    ///
    /// # Errors
    /// Returns [`EmbedError::Network`] if weights cannot be quantized; the encoder is then unchanged.
    pub fn morph(&mut self, format: impl Into<WeightFormat>) -> Result<(), EmbedError> {
        Ok(self.network.morph(format)?)
    }

    /// Drops the f32 values that quantized weights were made from. The vectors do not change; switching to another
    /// format later starts from the decoded weights.
    ///
    /// # Errors
    /// Returns [`EmbedError::Network`] if weights cannot be quantized; the encoder is then unchanged.
    pub fn freeze(&mut self) -> Result<(), EmbedError> {
        Ok(self.network.freeze()?)
    }

    /// Returns the size in bytes of all weights in memory, including the f32 values they were made from.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.network.memory().iter().map(|copy| copy.bytes).sum()
    }

    /// Embeds sentences to measure the inputs of each matrix, and quantizes the matrices again, in the same formats,
    /// with the importances found: see [`Observations::apply`](crate::network::observe::Observations::apply).
    ///
    /// # Errors
    /// Returns [`EmbedError::Network`], for example without sentences; the encoder is then unchanged.
    pub fn calibrate<T: AsRef<str>>(&mut self, sentences: &[T]) -> Result<(), EmbedError> {
        let seen = observe(&self.network, &self.batches(sentences)?, Observer::MinMax)?;
        Ok(seen.apply(&mut self.network)?)
    }

    /// Embeds sentences to measure the correlations of each matrix's inputs, and quantizes the matrices again with
    /// error feedback: see [`Observations::apply_feedback`](crate::network::observe::Observations::apply_feedback).
    /// Takes seconds for a small model, and for each matrix memory quadratic in its columns.
    ///
    /// # Errors
    /// Same as [`calibrate`](Self::calibrate).
    pub fn calibrate_feedback<T: AsRef<str>>(&mut self, sentences: &[T]) -> Result<(), EmbedError> {
        let seen = observe_products(&self.network, &self.batches(sentences)?, Observer::MinMax)?;
        Ok(seen.apply_feedback(&mut self.network)?)
    }

    /// Returns a unit vector for each sentence. Sentences are truncated after [`max_tokens`](Self::max_tokens) tokens.
    ///
    /// # Errors
    /// Returns [`EmbedError::Network`] if values overflow.
    pub fn embed<T: AsRef<str>>(&self, sentences: &[T]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_with(sentences, |batch| Ok(self.network.forward(batch)?))
    }

    /// Like [`embed`](Self::embed), with another forward pass: `forward` computes the outputs of
    /// [`network`](Self::network), for example on a graphics device.
    ///
    /// # Errors
    /// Returns the errors of `forward`, and [`EmbedError::Network`] if it returns outputs of another shape.
    pub fn embed_with<T: AsRef<str>, E: From<EmbedError>>(
        &self,
        sentences: &[T],
        mut forward: impl FnMut(&InputBatch) -> Result<InputBatch, E>,
    ) -> Result<Vec<Vec<f32>>, E> {
        let (tokens, order) = self.ordered(sentences);
        let mut vectors = vec![Vec::new(); sentences.len()];
        for some in order.chunks(TOGETHER) {
            let out = forward(&self.batch(&tokens, some)?)?;
            let (wanted, found) = (some.len() * self.dims(), out.values().len());
            if wanted != found {
                let what = "number of outputs must be";
                return Err(EmbedError::from(NetworkError::Targets { what, wanted, found }).into());
            }
            for (at, vector) in some.iter().zip(out.values().chunks_exact(self.dims())) {
                vectors[*at] = unit(vector);
            }
        }
        Ok(vectors)
    }

    /// Returns the tokens of a text as the network receives them: between the special tokens for start and end,
    /// truncated to the maximum length.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.encode(text, self.longest)
    }

    /// Returns the length of a vector.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.network.output().last().unwrap_or(0)
    }

    /// Returns the maximum number of tokens per text, including the special tokens at both ends.
    #[must_use]
    pub const fn max_tokens(&self) -> usize {
        self.longest
    }

    /// Returns the tokenizer.
    #[must_use]
    pub const fn tokenizer(&self) -> &WordPiece {
        &self.tokenizer
    }

    /// Returns the network.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the size in bytes of the weights that embedding reads, each in its active format.
    ///
    /// # Errors
    /// Returns [`EmbedError::Network`] if weights cannot be quantized.
    pub fn bytes(&self) -> Result<usize, EmbedError> {
        Ok(self.network.active_bytes()?)
    }

    /// Returns the tokens of all sentences, and their indices sorted by length: batches of similar length need little
    /// padding.
    fn ordered<T: AsRef<str>>(&self, sentences: &[T]) -> (Vec<Vec<u32>>, Vec<usize>) {
        let tokens: Vec<Vec<u32>> = sentences.iter().map(|text| self.tokens(text.as_ref())).collect();
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|at| tokens[*at].len());
        (tokens, order)
    }

    fn batches<T: AsRef<str>>(&self, sentences: &[T]) -> Result<Vec<InputBatch>, EmbedError> {
        let (tokens, order) = self.ordered(sentences);
        order.chunks(TOGETHER).map(|some| self.batch(&tokens, some)).collect()
    }

    /// Pads the sequences at `some` to the length of the longest and masks out the padding.
    fn batch(&self, tokens: &[Vec<u32>], some: &[usize]) -> Result<InputBatch, EmbedError> {
        let sequences = some.iter().map(|at| tokens[*at].as_slice());
        let length = sequences.clone().map(<[u32]>::len).max().unwrap_or(0);
        let filled = |tokens: &[u32]| {
            #[expect(clippy::cast_precision_loss, reason = "the network takes at most 2^24 tokens")]
            let id = |place: usize| tokens.get(place).copied().unwrap_or(self.pad) as f32;
            (0..length).map(id).collect::<Vec<f32>>()
        };
        let ids = sequences.clone().flat_map(filled).collect();
        let mask = sequences.flat_map(|tokens| (0..length).map(|place| place < tokens.len())).collect();
        Ok(InputBatch::new(ids, &[length])?.with_mask(mask)?)
    }
}

/// Scales a vector to length 1; a zero vector stays zero.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "at most 1")]
    vector.iter().map(|x| (f64::from(*x) / length.max(f64::MIN_POSITIVE)) as f32).collect()
}
