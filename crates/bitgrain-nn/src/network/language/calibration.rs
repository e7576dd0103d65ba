//! `TextCalibration`: measurements on a text for the quantization of a language model: importances of columns, sensitivities of
//! kinds of tensors, and the divergence of a quantized model.

use std::collections::{BTreeMap, BTreeSet};

use bitgrain_codec::weight::{GgmlBlock, WeightFormat};
use rayon::prelude::*;

use super::cache::CacheFormat;
use super::decoder::Decoder;
use super::importance::Importances;
use super::loader::{Loader, MatrixCache};
use super::model::LanguageModel;
use super::perplexity::{Perplexity, score};
use super::{LanguageError, Tokenizer};
use crate::model::convert::{FormatChoice, Recipe, measure};
use crate::model::plan::Sensitivities;
use crate::{ModelFile, ModelTensor};

/// Tokens per chunk, or the context of the model if it is shorter.
const CHUNK: usize = 512;
/// Tokens per chunk that sensitivities are measured on, and the number of chunks.
const SHORT: usize = 256;
const SHORT_CHUNKS: usize = 3;
/// Chunks that are held out to measure the divergence, at most one in eight.
const HELD_OUT: usize = 4;
/// Weights per tensor whose error is compared with the divergence.
const SAMPLE: usize = 1 << 17;

/// Parts of a calibration, to report its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CalibrationStage {
    /// Importances of columns, in chunks of the text.
    Importances,
    /// Sensitivities, in kinds of tensors.
    Sensitivities,
    /// Divergence of a quantized model, in chunks of the text.
    Divergence,
}

/// A text, divided into a part for calibration and a part that is held out to measure the result.
#[derive(Debug)]
pub struct TextCalibration {
    used: Vec<Vec<u32>>,
    held_out: Vec<Vec<u32>>,
}

impl TextCalibration {
    /// Divides a text. The last eighth, at most four chunks, is held out; `most` limits the chunks of the other part.
    ///
    /// # Errors
    /// Returns [`LanguageError::ShortText`] for a text of less than two chunks, and the errors of [`Tokenizer::load`].
    pub fn new(model: &ModelFile, text: &str, most: Option<usize>) -> Result<Self, LanguageError> {
        let longest = Decoder::context(model)?;
        let tokenizer = Tokenizer::load(model)?;
        let chunk = longest.min(CHUNK);
        let tokens = tokenizer.encode(text, false);
        let mut used = super::perplexity::chunks_of(&tokens, chunk, tokenizer.start());
        if used.len() < 2 {
            return Err(LanguageError::ShortText { tokens: tokens.len(), chunk: 2 * chunk });
        }
        let held_out = used.split_off(used.len() - (used.len() / 8).clamp(1, HELD_OUT));
        used.truncate(most.unwrap_or(usize::MAX).max(1));
        Ok(Self { used, held_out })
    }

    /// Returns the numbers of tokens used and held out.
    #[must_use]
    pub fn tokens(&self) -> [usize; 2] {
        [&self.used, &self.held_out].map(|chunks| chunks.iter().map(Vec::len).sum())
    }

    /// Sums the squared inputs of the matrices in the layers, on the model with floats rounded to 8 bits.
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::load`] and [`Decoder::forward`].
    pub fn importances(
        &self,
        model: &ModelFile,
        mut done: impl FnMut(CalibrationStage, usize, usize),
    ) -> Result<Importances, LanguageError> {
        let (recipe, cache) = (Recipe::new(FormatChoice::Keep), MatrixCache::default());
        let base = LanguageModel::load_from(Loader::with(model, &rounded, &recipe, &cache), None)?;
        let done = |at, all| done(CalibrationStage::Importances, at, all);
        base.importances_of(&self.used, CHUNK, false, done)
    }

    /// Measures how much the predictions diverge if all tensors of a kind are stored at 4 bits, for each kind, and divides by
    /// the errors of these tensors. The other tensors have 8 bits. `recipe` has the importances.
    ///
    /// # Errors
    /// Returns the errors of [`Decoder::load`] and [`Decoder::forward`].
    pub fn sensitivities(
        &self,
        model: &ModelFile,
        recipe: &Recipe,
        mut done: impl FnMut(CalibrationStage, usize, usize),
    ) -> Result<Sensitivities, LanguageError> {
        let cache = MatrixCache::default();
        let context = Some(Decoder::context(model)?.min(SHORT));
        let load = |choose: &(dyn Fn(&ModelTensor) -> Option<WeightFormat> + Sync)| {
            Decoder::load_from(Loader::with(model, choose, recipe, &cache), context)
        };
        let base = load(&rounded)?;
        let texts: Vec<&[u32]> = self.used.iter().flat_map(|chunk| chunk.chunks(SHORT)).take(SHORT_CHUNKS).collect();
        let logits = |decoder: &Decoder, text: &[u32]| {
            decoder.forward(text, &mut decoder.cache(CacheFormat::F16)?, text.len() / 2)
        };
        let wanted = texts.iter().map(|text| logits(&base, text)).collect::<Result<Vec<_>, _>>()?;
        let tensors: Vec<&ModelTensor> = model.tensors().iter().filter(|tensor| probed(tensor).is_some()).collect();
        let kinds: BTreeSet<&str> = tensors.iter().map(|tensor| Sensitivities::kind(&tensor.name)).collect();
        let mut found = BTreeMap::new();
        for (at, kind) in kinds.iter().enumerate() {
            let is_probed = |tensor: &ModelTensor| Sensitivities::kind(&tensor.name) == *kind;
            let choose = |tensor: &ModelTensor| if is_probed(tensor) { probed(tensor) } else { rounded(tensor) };
            let decoder = load(&choose)?;
            let mut divergences: Vec<f64> = Vec::new();
            for (text, wanted) in texts.iter().zip(&wanted) {
                let found = logits(&decoder, text)?;
                let pairs = found.par_chunks_exact(decoder.tokens()).zip(wanted.par_chunks_exact(decoder.tokens()));
                divergences.par_extend(pairs.map(|(found, wanted)| score(found, Some(wanted), 0).divergence));
            }
            let mut errors = 0.0;
            for tensor in tensors.iter().filter(|tensor| is_probed(tensor)) {
                let Some(format) = probed(tensor) else { continue };
                let lost = measure(tensor, format, recipe, Some(SAMPLE), &())?;
                let plain = bitgrain_codec::Fidelity::of(lost.sums, lost.weights).relative_rmse.powi(2);
                errors += Some(lost.weighted().unwrap_or(plain)).filter(|error| error.is_finite()).unwrap_or(0.0);
            }
            #[expect(clippy::cast_precision_loss, reason = "a few hundred predictions")]
            let mean = divergences.iter().sum::<f64>() / divergences.len().max(1) as f64;
            found.insert((*kind).to_owned(), mean / errors);
            drop(decoder);
            cache.remove_unused();
            done(CalibrationStage::Sensitivities, at + 1, kinds.len());
        }
        Ok(Sensitivities::new(found))
    }

    /// Measures the loss of `quantized` and its divergence from `original` on the part of the text that is held out.
    ///
    /// # Errors
    /// Returns [`LanguageError::Vocabularies`] if the models have different tokenizers, and the errors of
    /// [`Decoder::load`] and [`Decoder::forward`].
    pub fn divergence(
        &self,
        original: &ModelFile,
        quantized: &ModelFile,
        mut done: impl FnMut(CalibrationStage, usize, usize),
    ) -> Result<Perplexity, LanguageError> {
        let [reference, model] = [LanguageModel::load(original, None)?, LanguageModel::load(quantized, None)?];
        model.perplexity_of(&self.held_out, Some(&reference), CacheFormat::F16, |at, all, _| {
            done(CalibrationStage::Divergence, at, all);
        })
    }
}

/// Returns 8 bits for floats: a model that predicts almost the same in a fraction of the time.
fn rounded(tensor: &ModelTensor) -> Option<WeightFormat> {
    let is_matrix = is_matrix(tensor) && tensor.storage.is_float();
    is_matrix.then_some(WeightFormat::Ggml(GgmlBlock::Q8_0))
}

/// Returns the format whose damage is measured, if the rows of the tensor allow it.
fn probed(tensor: &ModelTensor) -> Option<WeightFormat> {
    is_matrix(tensor).then_some(WeightFormat::Ggml(GgmlBlock::Q4_0))
}

/// Returns whether a tensor is a matrix that may be quantized: the router of experts keeps its format.
fn is_matrix(tensor: &ModelTensor) -> bool {
    let fixed = tensor.view.as_ref().is_some_and(|view| view.fixed) || tensor.name.contains("ffn_gate_inp");
    tensor.shape.len() >= 2 && !fixed && tensor.cols().is_multiple_of(32) && tensor.storage.format().is_some()
}
