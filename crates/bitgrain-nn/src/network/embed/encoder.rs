//! `SentenceEncoder`: a tokenizer and a network; texts go in, unit vectors come out.

use std::path::Path;

use bitgrain_codec::weight::WeightFormat;

use super::config::Config;
use super::{EmbedError, WordPiece, bert};
use crate::ModelFile;
use crate::network::observe::{Observer, observe, observe_products};
use crate::network::{InputBatch, Network};

/// Texts that run through the network together.
const TOGETHER: usize = 32;

/// A BERT that turns sentences into vectors of length one, such that like sentences have a large scalar product.
///
/// ```no_run
/// use bitgrain_nn::network::embed::SentenceEncoder;
/// let mut encoder = SentenceEncoder::open("all-MiniLM-L6-v2")?;
/// encoder.morph(bitgrain_codec::weight::DType::Int8)?;
/// let vectors = encoder.embed(&["A man plays the guitar.", "Someone makes music."])?;
/// let likeness: f32 = vectors[0].iter().zip(&vectors[1]).map(|(a, b)| a * b).sum();
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
    /// Reads a Hugging Face folder: `config.json`, the weights as `model.safetensors` (or shards), `tokenizer.json` or
    /// `vocab.txt`; and, if there, `sentence_bert_config.json` and `1_Pooling/config.json`.
    ///
    /// # Errors
    /// [`EmbedError`] for what is missing, has another shape or belongs to another kind of model.
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

    /// Makes every matrix run in that format; norms and biases stay at f32.
    ///
    /// # Errors
    /// [`EmbedError::Network`]; then nothing is changed.
    pub fn morph(&mut self, format: impl Into<WeightFormat>) -> Result<(), EmbedError> {
        Ok(self.network.morph(format)?)
    }

    /// Keeps the weights in their formats only and frees the f32 values that they were made from. The vectors stay the
    /// same; another format is then made from what the codes stand for.
    ///
    /// # Errors
    /// [`EmbedError::Network`]; then nothing is changed.
    pub fn freeze(&mut self) -> Result<(), EmbedError> {
        Ok(self.network.freeze()?)
    }

    /// Bytes of all weights in memory, the f32 values they were made from included.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.network.memory().iter().map(|copy| copy.bytes).sum()
    }

    /// Embeds texts to learn how large the inputs of every matrix are, and has scales searched for with that: see
    /// [`Observations::apply`](crate::network::observe::Observations::apply). Matrices keep their formats, and are quantized anew.
    ///
    /// # Errors
    /// [`EmbedError::Network`], also without texts; then nothing is changed.
    pub fn calibrate<T: AsRef<str>>(&mut self, texts: &[T]) -> Result<(), EmbedError> {
        let seen = observe(&self.network, &self.batches(texts)?, Observer::MinMax)?;
        Ok(seen.apply(&mut self.network)?)
    }

    /// Embeds texts to learn how the inputs of every matrix go together, and has weights rounded with that so that they
    /// make up for each other's errors: see [`Observations::apply_feedback`](crate::network::observe::Observations::apply_feedback). Takes seconds for a small model, and for
    /// each matrix memory for a number for every pair of its columns.
    ///
    /// # Errors
    /// As [`calibrate`](Self::calibrate).
    pub fn calibrate_feedback<T: AsRef<str>>(&mut self, texts: &[T]) -> Result<(), EmbedError> {
        let seen = observe_products(&self.network, &self.batches(texts)?, Observer::MinMax)?;
        Ok(seen.apply_feedback(&mut self.network)?)
    }

    /// A vector of length one for each text. Texts beyond [`longest`](Self::longest) tokens are cut there.
    ///
    /// # Errors
    /// [`EmbedError::Network`] if numbers overflow on the way.
    pub fn embed<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (tokens, order) = self.ordered(texts);
        let mut vectors = vec![Vec::new(); texts.len()];
        for some in order.chunks(TOGETHER) {
            let out = self.network.forward(&self.batch(&tokens, some)?)?;
            for (at, vector) in some.iter().zip(out.values().chunks_exact(self.dims())) {
                vectors[*at] = unit(vector);
            }
        }
        Ok(vectors)
    }

    /// The tokens of a text as the network gets them: between those of its start and its end, cut where it is too long.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.encode(text, self.longest)
    }

    /// Numbers of a vector.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.network.output().last().unwrap_or(0)
    }

    /// Tokens of a text that are looked at, with those at its ends.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// Its tokenizer.
    #[must_use]
    pub const fn tokenizer(&self) -> &WordPiece {
        &self.tokenizer
    }

    /// Its network, which knows what each parameter takes in memory.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Bytes of the weights that embedding reads, each in its format.
    ///
    /// # Errors
    /// [`EmbedError::Network`].
    pub fn bytes(&self) -> Result<usize, EmbedError> {
        Ok(self.network.active_bytes()?)
    }

    /// The tokens of texts, and the order in which those of like length follow one another: shorter ones of a batch are
    /// filled up.
    fn ordered<T: AsRef<str>>(&self, texts: &[T]) -> (Vec<Vec<u32>>, Vec<usize>) {
        let tokens: Vec<Vec<u32>> = texts.iter().map(|text| self.tokens(text.as_ref())).collect();
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        order.sort_by_key(|at| tokens[*at].len());
        (tokens, order)
    }

    fn batches<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<InputBatch>, EmbedError> {
        let (tokens, order) = self.ordered(texts);
        order.chunks(TOGETHER).map(|some| self.batch(&tokens, some)).collect()
    }

    /// Some of the sequences, filled up to the length of the longest, which the mask takes back.
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

/// The vector at length one; zeros stay zeros.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "at most 1")]
    vector.iter().map(|x| (f64::from(*x) / length.max(f64::MIN_POSITIVE)) as f32).collect()
}
