//! Perplexity of a text, and the divergence of a model's predictions from those of a reference.

use rayon::prelude::*;

use super::LanguageError;
use super::cache::CacheFormat;
use super::model::LanguageModel;
use super::sampler::most_likely;

/// Settings of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct PerplexityOptions {
    /// Tokens per chunk. The second half of each chunk is scored, so that each prediction has a context.
    pub chunk: usize,
    /// Maximum number of chunks.
    pub chunks: Option<usize>,
    /// Format of the model's cached keys and values; the reference uses f16.
    pub cache: CacheFormat,
}

impl Default for PerplexityOptions {
    /// llama.cpp's defaults: all chunks of 512 tokens.
    fn default() -> Self {
        Self { chunk: 512, chunks: None, cache: CacheFormat::F16 }
    }
}

/// A mean and its standard error, which assumes independent terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean; NaN for a single term.
    pub error: f64,
}

/// Result of [`LanguageModel::perplexity`].
#[derive(Debug, Clone)]
pub struct Perplexity {
    /// Number of chunks.
    pub chunks: usize,
    /// Number of predictions scored.
    pub predictions: usize,
    /// Negative log-likelihood per token in nats.
    pub loss: Estimate,
    /// Comparison with a reference, if given.
    pub divergence: Option<Divergence>,
    /// Seconds for the forward passes of the model.
    pub seconds: f64,
}

/// Difference of a model's predictions from those of a reference.
#[derive(Debug, Clone)]
pub struct Divergence {
    /// Negative log-likelihood per token of the reference.
    pub reference: Estimate,
    /// Difference of the log-likelihoods; its error takes into account that both models saw the same text.
    pub loss: Estimate,
    /// Kullback-Leibler divergence of the model from the reference in nats.
    pub divergence: Estimate,
    /// Median of the divergence.
    pub median: f64,
    /// 99th percentile of the divergence.
    pub percentile: f64,
    /// Share of predictions with the same most likely token.
    pub same_top: Estimate,
}

impl Perplexity {
    /// Returns the perplexity, the exponential of the loss, with its standard error.
    #[must_use]
    pub fn perplexity(&self) -> Estimate {
        exponential(self.loss)
    }
}

impl Divergence {
    /// Returns the perplexity of the reference.
    #[must_use]
    pub fn reference_perplexity(&self) -> Estimate {
        exponential(self.reference)
    }
}

fn exponential(loss: Estimate) -> Estimate {
    Estimate { mean: loss.mean.exp(), error: loss.mean.exp() * loss.error }
}

impl Estimate {
    /// Computes mean and standard error.
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    fn of(terms: impl Iterator<Item = f64> + Clone) -> Self {
        let count = terms.clone().count() as f64;
        let mean = terms.clone().sum::<f64>() / count;
        let squares: f64 = terms.map(|term| (term - mean) * (term - mean)).sum();
        Self { mean, error: (squares / (count * (count - 1.0))).sqrt() }
    }
}

/// Scores of one prediction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Score {
    loss: f64,
    reference: f64,
    pub(super) divergence: f64,
    same: bool,
}

impl LanguageModel {
    /// Splits a text into chunks of tokens, each starting with the token that the model expects at the start of a text.
    ///
    /// # Errors
    /// Returns [`LanguageError::ShortText`] for less than one chunk, and [`LanguageError::Setting`] or
    /// [`LanguageError::TooLong`] for chunks that are too short or too long.
    pub(super) fn chunks(&self, text: &str, chunk: usize, most: Option<usize>) -> Result<Vec<Vec<u32>>, LanguageError> {
        if chunk < 4 {
            return Err(LanguageError::Setting {
                name: "chunk",
                value: chunk.to_string(),
                wanted: "at least 4 tokens",
            });
        }
        let longest = self.decoder().longest();
        if chunk > longest {
            return Err(LanguageError::TooLong { tokens: chunk, longest });
        }
        let tokens = self.tokenizer().encode(text, false);
        let mut chunks = chunks_of(&tokens, chunk, self.tokenizer().start());
        if chunks.is_empty() {
            return Err(LanguageError::ShortText { tokens: tokens.len(), chunk });
        }
        chunks.truncate(most.unwrap_or(chunks.len()).max(1));
        Ok(chunks)
    }

    /// Measures how well the model predicts a text, and how far its predictions are from those of `reference`.
    /// `done` is called after each chunk with the number of chunks done, the number of all chunks, and the loss so far.
    ///
    /// # Errors
    /// Returns [`LanguageError::ShortText`] for a text of less than one chunk, [`LanguageError::Vocabularies`] for a
    /// reference with another tokenizer, and the errors of [`Decoder::forward`](super::Decoder::forward).
    pub fn perplexity(
        &self,
        text: &str,
        reference: Option<&Self>,
        options: PerplexityOptions,
        done: impl FnMut(usize, usize, f64),
    ) -> Result<Perplexity, LanguageError> {
        self.check_reference(reference)?;
        let chunks = self.chunks(text, options.chunk, options.chunks)?;
        self.perplexity_of(&chunks, reference, options.cache, done)
    }

    /// Returns [`LanguageError::Vocabularies`] for a reference with another tokenizer.
    fn check_reference(&self, reference: Option<&Self>) -> Result<(), LanguageError> {
        let wrong = |reference: &Self| LanguageError::Vocabularies {
            model: self.path().to_owned(),
            reference: reference.path().to_owned(),
        };
        let same = |other: &Self| {
            other.tokenizer().agrees(self.tokenizer()) && other.decoder().tokens() == self.decoder().tokens()
        };
        reference.filter(|reference| !same(reference)).map_or(Ok(()), |reference| Err(wrong(reference)))
    }

    /// Like [`perplexity`](Self::perplexity), of chunks of equal length.
    pub(super) fn perplexity_of(
        &self,
        chunks: &[Vec<u32>],
        reference: Option<&Self>,
        cache: CacheFormat,
        mut done: impl FnMut(usize, usize, f64),
    ) -> Result<Perplexity, LanguageError> {
        self.check_reference(reference)?;
        let (half, mut seconds) = (chunks.first().map_or(0, Vec::len) / 2, 0.0);
        let mut scores: Vec<Score> = Vec::with_capacity(chunks.len() * half);
        for (at, chunk) in chunks.iter().enumerate() {
            // The last token of a chunk is only predicted.
            let read = &chunk[..chunk.len() - 1];
            let start = std::time::Instant::now();
            let logits = self.decoder().forward(read, &mut self.cache(cache)?, half)?;
            seconds += start.elapsed().as_secs_f64();
            let wanted = match reference {
                Some(reference) => {
                    Some(reference.decoder().forward(read, &mut reference.cache(CacheFormat::F16)?, half)?)
                }
                None => None,
            };
            let tokens = self.decoder().tokens();
            let score = |(row, logits): (usize, &[f32])| {
                let next = chunk[half + row + 1] as usize;
                score(logits, wanted.as_ref().map(|wanted| &wanted[row * tokens..][..tokens]), next)
            };
            scores.par_extend(logits.par_chunks_exact(tokens).enumerate().map(score));
            done(at + 1, chunks.len(), Estimate::of(scores.iter().map(|score| score.loss)).mean);
        }
        let divergence = reference.map(|_| {
            let mut sorted: Vec<f64> = scores.iter().map(|score| score.divergence).collect();
            sorted.sort_by(f64::total_cmp);
            Divergence {
                reference: Estimate::of(scores.iter().map(|score| score.reference)),
                loss: Estimate::of(scores.iter().map(|score| score.loss - score.reference)),
                divergence: Estimate::of(scores.iter().map(|score| score.divergence)),
                median: sorted[sorted.len() / 2],
                percentile: sorted[sorted.len() * 99 / 100],
                same_top: Estimate::of(scores.iter().map(|score| f64::from(u8::from(score.same)))),
            }
        });
        let (predictions, loss) = (scores.len(), Estimate::of(scores.iter().map(|score| score.loss)));
        Ok(Perplexity { chunks: chunks.len(), predictions, loss, divergence, seconds })
    }
}

/// Splits tokens into chunks, each starting with the token that the model expects at the start of a text.
pub(super) fn chunks_of(tokens: &[u32], chunk: usize, start: Option<u32>) -> Vec<Vec<u32>> {
    let mut chunks: Vec<Vec<u32>> = tokens.chunks_exact(chunk.max(1)).map(<[u32]>::to_vec).collect();
    if let Some(start) = start {
        chunks.iter_mut().for_each(|chunk| chunk[0] = start);
    }
    chunks
}

/// Scores the prediction of the token `next`.
pub(super) fn score(logits: &[f32], reference: Option<&[f32]>, next: usize) -> Score {
    let log_sum = log_sum(logits);
    let loss = log_sum - f64::from(logits[next]);
    let Some(reference) = reference else { return Score { loss, ..Score::default() } };
    let reference_sum = self::log_sum(reference);
    let terms = logits.iter().zip(reference).map(|(logit, reference)| {
        let wanted = f64::from(*reference) - reference_sum;
        // Terms of tokens this unlikely do not matter, and their logarithms are the bulk of the work.
        if wanted < -30.0 { 0.0 } else { wanted.exp() * (wanted - (f64::from(*logit) - log_sum)) }
    });
    Score {
        loss,
        reference: reference_sum - f64::from(reference[next]),
        divergence: terms.sum(),
        same: most_likely(logits) == most_likely(reference),
    }
}

/// Returns the logarithm of the sum of exponentials.
fn log_sum(logits: &[f32]) -> f64 {
    let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    top + logits.iter().map(|logit| (f64::from(*logit) - top).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_definition() {
        let (logits, reference) = ([0.0, 1.0_f32.ln(), 2.0_f32.ln()], [0.0, 0.0, 0.0]);
        let found = score(&logits, Some(&reference), 2);
        assert!((found.loss - 2.0_f64.ln()).abs() < 1e-7);
        assert!((found.reference - 3.0_f64.ln()).abs() < 1e-7);
        // 1/3 ln(4/3) + 1/3 ln(4/3) + 1/3 ln(2/3)
        assert!((found.divergence - (2.0 * (4.0_f64 / 3.0).ln() + (2.0_f64 / 3.0).ln()) / 3.0).abs() < 1e-7);
        assert!(!found.same);
        assert!(score(&logits, Some(&logits), 0).divergence.abs() < 1e-12);
    }

    #[test]
    fn errors_are_those_of_a_mean() {
        let found = Estimate::of([1.0, 2.0, 3.0, 4.0].into_iter());
        assert_eq!(found.mean, 2.5);
        assert!((found.error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }
}
