//! `LanguageModel`: a decoder with its tokenizer.

use std::path::{Path, PathBuf};

use super::LanguageError;
use super::cache::{CacheFormat, KeyValueCache};
use super::chat::ChatTemplate;
use super::decoder::Decoder;
use super::loader::Loader;
use super::sampler::{Sampler, Sampling};
use super::tokenizer::Tokenizer;
use crate::ModelFile;

/// A language model from a GGUF file, which runs on its quantized weights.
///
/// ```no_run
/// use bitgrain_nn::network::language::{CacheFormat, LanguageModel, Sampling};
/// let model = LanguageModel::open("SmolLM2-135M-Q4_K_M.gguf")?;
/// let prompt = model.tokenizer().encode("The capital of France is", false);
/// let mut text = String::new();
/// model.generate(&prompt, 16, Sampling::GREEDY, CacheFormat::F16, |piece| {
///     text.push_str(piece);
///     true
/// })?;
/// # Ok::<(), bitgrain_nn::network::language::LanguageError>(())
/// ```
#[derive(Debug)]
pub struct LanguageModel {
    path: PathBuf,
    decoder: Decoder,
    tokenizer: Tokenizer,
    template: Option<String>,
}

/// Reason why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The model chose a token that ends its answer.
    End,
    /// The requested number of tokens was reached.
    Length,
    /// The context is full.
    Context,
    /// The caller asked to stop.
    Caller,
}

/// Result of a generation.
#[derive(Debug, Clone)]
pub struct Generation {
    /// Tokens after the prompt, without the one that ended the answer.
    pub tokens: Vec<u32>,
    /// Reason for the end.
    pub stop: Stop,
    /// Seconds to evaluate the prompt.
    pub prompt_seconds: f64,
    /// Seconds to generate the tokens, after the prompt.
    pub seconds: f64,
    /// Size of the cached keys and values in bytes.
    pub cache_bytes: usize,
}

impl LanguageModel {
    /// Opens a GGUF file with all of the model's context.
    ///
    /// # Errors
    /// Returns the errors of [`open_with`](Self::open_with).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LanguageError> {
        Self::open_with(path, None)
    }

    /// Opens a GGUF file with a context of at most `context` tokens.
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::load`] and [`Tokenizer::load`], and [`LanguageError::Token`] if the vocabulary
    /// is larger than the embedding table.
    pub fn open_with(path: impl AsRef<Path>, context: Option<usize>) -> Result<Self, LanguageError> {
        Self::load(&ModelFile::open(path)?, context)
    }

    /// Loads an open file with a context of at most `context` tokens.
    ///
    /// # Errors
    /// Same as [`open_with`](Self::open_with).
    pub fn load(model: &ModelFile, context: Option<usize>) -> Result<Self, LanguageError> {
        Self::load_from(Loader::new(model), context)
    }

    /// Like [`load`](Self::load), with the matrices of a loader.
    pub(super) fn load_from(loader: Loader<'_>, context: Option<usize>) -> Result<Self, LanguageError> {
        let model = loader.model;
        let decoder = Decoder::load_from(loader, context)?;
        let tokenizer = Tokenizer::load(model)?;
        if tokenizer.tokens() > decoder.tokens() {
            let id = u32::try_from(tokenizer.tokens() - 1).unwrap_or(u32::MAX);
            return Err(LanguageError::Token { id, tokens: decoder.tokens() });
        }
        let template = model.metadata().gguf.get("tokenizer.chat_template").and_then(|value| value.as_str());
        Ok(Self { path: model.path().to_owned(), decoder, tokenizer, template: template.map(str::to_owned) })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the decoder.
    #[must_use]
    pub const fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Returns the tokenizer.
    #[must_use]
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the tokens of a question in the form that the model was trained on, up to where its answer starts.
    ///
    /// # Errors
    /// Returns [`LanguageError::ChatTemplate`] for a model without a known template.
    pub fn chat(&self, system: Option<&str>, user: &str) -> Result<Vec<u32>, LanguageError> {
        let known = self.template.as_deref().and_then(ChatTemplate::of);
        let present = self.template.is_some();
        let template = known.ok_or_else(|| LanguageError::ChatTemplate { path: self.path.clone(), present })?;
        Ok(self.tokenizer.encode(&template.question(system, user), true))
    }

    /// Returns the logits after each token of a text.
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::forward`].
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>, LanguageError> {
        let mut cache = self.decoder.cache(CacheFormat::F16)?;
        self.decoder.forward(tokens, &mut cache, 0)
    }

    /// Continues a prompt by at most `most` tokens. Calls `piece` with the text of each token, as soon as its characters
    /// are complete; it returns whether to continue.
    ///
    /// # Errors
    /// Returns [`LanguageError::TooLong`] if the prompt does not fit, [`LanguageError::Setting`] for an empty prompt or
    /// settings out of range, and the errors of [`Decoder::forward`].
    pub fn generate(
        &self,
        prompt: &[u32],
        most: usize,
        sampling: Sampling,
        cache: CacheFormat,
        mut piece: impl FnMut(&str) -> bool,
    ) -> Result<Generation, LanguageError> {
        let mut sampler = Sampler::new(sampling)?;
        if prompt.is_empty() {
            let (name, wanted) = ("prompt", "at least one token");
            return Err(LanguageError::Setting { name, value: String::new(), wanted });
        }
        let mut cache = self.decoder.cache(cache)?;
        let start = std::time::Instant::now();
        let mut logits = self.decoder.forward(prompt, &mut cache, prompt.len() - 1)?;
        let prompt_seconds = start.elapsed().as_secs_f64();
        let start = std::time::Instant::now();
        let mut all = prompt.to_vec();
        let mut pending = Vec::new();
        let stop = loop {
            if all.len() - prompt.len() >= most {
                break Stop::Length;
            }
            let token = sampler.sample(&logits, &all);
            if self.tokenizer.stops(token) {
                break Stop::End;
            }
            all.push(token);
            pending.extend_from_slice(self.tokenizer.bytes(token));
            let text = complete(&mut pending);
            if !text.is_empty() && !piece(&text) {
                break Stop::Caller;
            }
            if all.len() - prompt.len() >= most {
                break Stop::Length;
            }
            if cache.len() >= self.decoder.longest() {
                break Stop::Context;
            }
            logits = self.decoder.forward(&[token], &mut cache, 0)?;
        };
        // Bytes that no further token can complete.
        if !pending.is_empty() {
            piece(&String::from_utf8_lossy(&pending));
        }
        let (seconds, cache_bytes) = (start.elapsed().as_secs_f64(), cache.bytes());
        Ok(Generation { tokens: all.split_off(prompt.len()), stop, prompt_seconds, seconds, cache_bytes })
    }

    /// Creates an empty cache.
    ///
    /// # Errors
    /// Returns [`LanguageError::CacheFormat`].
    pub fn cache(&self, format: CacheFormat) -> Result<KeyValueCache, LanguageError> {
        self.decoder.cache(format)
    }
}

/// Removes the complete characters from the front of `bytes` and returns them; invalid bytes are replaced.
fn complete(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(valid) => {
                text.push_str(valid);
                bytes.clear();
                return text;
            }
            Err(error) => {
                let valid = error.valid_up_to();
                text.push_str(&String::from_utf8_lossy(&bytes[..valid]));
                // Without a length, the last character may still become complete.
                let Some(invalid) = error.error_len() else {
                    bytes.drain(..valid);
                    return text;
                };
                text.push(char::REPLACEMENT_CHARACTER);
                bytes.drain(..valid + invalid);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_returned_when_they_are_complete() {
        let mut bytes = b"a\xc3".to_vec();
        assert_eq!(complete(&mut bytes), "a");
        bytes.push(0xa9);
        assert_eq!(complete(&mut bytes), "\u{e9}");
        bytes.extend(b"\xffb\xe2\x82");
        assert_eq!(complete(&mut bytes), "\u{fffd}b");
        assert_eq!(bytes, b"\xe2\x82");
    }
}
