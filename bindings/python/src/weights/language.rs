//! `WeightLanguageModel`: language models.

use std::path::PathBuf;

use bitgrain::nn::network::language::{CacheFormat, Estimate, LanguageModel, PerplexityOptions, Sampling, Stop};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Raised, Result};
use crate::process;

/// A language model from a GGUF file.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightLanguageModel {
    model: LanguageModel,
}

#[pymethods]
impl WeightLanguageModel {
    /// Opens a GGUF file with a context of at most `context` tokens.
    #[staticmethod]
    #[pyo3(signature = (path, context=None))]
    fn open(py: Python<'_>, path: PathBuf, context: Option<usize>) -> Result<Self> {
        Ok(Self { model: process::detached(py, || LanguageModel::open_with(path, context))? })
    }

    /// Returns the architecture, the context length, the number of tokens and the size of the weights in bytes.
    fn about(&self) -> (&'static str, usize, usize, usize) {
        let decoder = self.model.decoder();
        (decoder.architecture().name(), decoder.longest(), decoder.tokens(), decoder.bytes())
    }

    /// Returns the tokens of a text.
    fn encode(&self, text: &str, control: bool) -> Vec<u32> {
        self.model.tokenizer().encode(text, control)
    }

    /// Returns the tokens of a question in the chat template of the model.
    #[pyo3(signature = (text, system=None))]
    fn chat(&self, text: &str, system: Option<&str>) -> Result<Vec<u32>> {
        Ok(self.model.chat(system, text)?)
    }

    /// Returns the text of tokens.
    fn decode(&self, tokens: Vec<u32>) -> String {
        self.model.tokenizer().decode(&tokens)
    }

    /// Returns the logits after each token.
    fn logits<'py>(&self, py: Python<'py>, tokens: Vec<u32>) -> Result<Bound<'py, PyArray2<f32>>> {
        let logits = process::detached(py, || self.model.logits(&tokens))?;
        let shape = [tokens.len(), self.model.decoder().tokens()];
        Ok(logits.into_pyarray(py).reshape(shape)?)
    }

    /// Generates tokens. `notify` is called with each piece of the text; an exception ends the generation. Returns the
    /// text, the tokens and the reason of the end.
    #[pyo3(signature = (prompt, max_tokens, sampling, cache, notify=None))]
    fn generate(
        &self,
        py: Python<'_>,
        prompt: Vec<u32>,
        max_tokens: usize,
        sampling: (f32, usize, f32, f32, f32, u64),
        cache: &str,
        notify: Option<Py<PyAny>>,
    ) -> Result<(String, Vec<u32>, &'static str)> {
        let cache: CacheFormat = cache.parse()?;
        let (temperature, top_k, top_p, min_p, repeat_penalty, seed) = sampling;
        let sampling = Sampling { temperature, top_k, top_p, min_p, repeat_penalty, seed, ..Sampling::default() };
        let (mut text, mut wrong) = (String::new(), None);
        let generation = process::detached(py, || {
            self.model.generate(&prompt, max_tokens, sampling, cache, |piece| {
                text.push_str(piece);
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    notify.as_ref().map_or(Ok(()), |notify| notify.call1(py, (piece,)).map(drop))
                });
                wrong = told.err();
                wrong.is_none()
            })
        })?;
        match wrong {
            Some(error) => Err(Raised::from(error)),
            None => Ok((text, generation.tokens, stop_name(generation.stop))),
        }
    }

    /// Measures the perplexity of a text and the divergence from a reference. `notify` is called with the numbers of
    /// chunks done and of all chunks.
    #[pyo3(signature = (text, reference, chunk, chunks, cache))]
    fn perplexity<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        reference: Option<PyRef<'_, Self>>,
        chunk: usize,
        chunks: Option<usize>,
        cache: &str,
    ) -> Result<Bound<'py, PyDict>> {
        let options = PerplexityOptions { chunk, chunks, cache: cache.parse()? };
        let reference = reference.as_ref().map(|reference| &reference.model);
        let found = process::detached(py, || self.model.perplexity(text, reference, options, |_, _, _| {}))?;
        let figures = PyDict::new(py);
        let set = |name: &str, value: Estimate| figures.set_item(name, (value.mean, value.error));
        set("perplexity", found.perplexity())?;
        set("loss", found.loss)?;
        if let Some(divergence) = &found.divergence {
            set("reference_perplexity", divergence.reference_perplexity())?;
            set("loss_difference", divergence.loss)?;
            set("kl_divergence", divergence.divergence)?;
            set("same_top", divergence.same_top)?;
        }
        figures.set_item("chunks", found.chunks)?;
        figures.set_item("predictions", found.predictions)?;
        Ok(figures)
    }

    /// Writes the importances of all matrices on a text. Returns the number of tensors.
    #[pyo3(signature = (text, path, chunk, chunks, output))]
    fn importances(
        &self,
        py: Python<'_>,
        text: &str,
        path: PathBuf,
        chunk: usize,
        chunks: Option<usize>,
        output: bool,
    ) -> Result<usize> {
        process::detached(py, || {
            let found = self.model.importances(text, chunk, chunks, output, |_, _| {})?;
            found.save(path, "text")?;
            Ok(found.len())
        })
    }
}

const fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end",
        Stop::Length => "length",
        Stop::Context => "context",
        Stop::Caller => "caller",
    }
}
