//! `WeightEncoder`: sentence embeddings.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use bitgrain::nn::network::embed::SentenceEncoder;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::format::parse;
use crate::error::Result;
use crate::process;

/// Number of strings between two checks for Ctrl-C.
const STEP: usize = 128;

/// A BERT model that computes sentence embeddings.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct WeightEncoder {
    encoder: RwLock<SentenceEncoder>,
}

#[pymethods]
impl WeightEncoder {
    /// Reads a Hugging Face directory.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> Result<Self> {
        Ok(Self { encoder: RwLock::new(process::detached(py, || SentenceEncoder::open(path))?) })
    }

    /// Converts every matrix to a format.
    fn morph(&self, py: Python<'_>, format: &str) -> Result<()> {
        let format = parse(format)?;
        Ok(process::detached(py, || self.encoder.write().unwrap_or_else(PoisonError::into_inner).morph(format))?)
    }

    /// Quantizes every matrix again for inputs like `sentences`: rounding with feedback, or importances only.
    fn calibrate(&self, py: Python<'_>, sentences: Vec<String>, feedback: bool) -> Result<()> {
        Ok(process::detached(py, || {
            let mut encoder = self.encoder.write().unwrap_or_else(PoisonError::into_inner);
            if feedback { encoder.calibrate_feedback(&sentences) } else { encoder.calibrate(&sentences) }
        })?)
    }

    /// Returns the embeddings, concatenated. `notify` is called with the number of strings done.
    #[pyo3(signature = (sentences, notify=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        sentences: Vec<String>,
        notify: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyArray1<f32>>> {
        let (mut out, mut done) = (Vec::new(), 0);
        for some in sentences.chunks(STEP) {
            py.check_signals()?;
            let vectors =
                process::detached(py, || self.encoder.read().unwrap_or_else(PoisonError::into_inner).embed(some))?;
            out.extend(vectors.concat());
            done += some.len();
            if let Some(notify) = notify {
                notify.call1((done,))?;
            }
        }
        Ok(out.into_pyarray(py))
    }

    /// Tokenizes a string.
    fn tokens(&self, py: Python<'_>, text: &str) -> Vec<u32> {
        process::detached(py, || self.encoder.read().unwrap_or_else(PoisonError::into_inner).tokens(text))
    }

    /// Returns the embedding dimension, the maximum number of tokens, and the size of the weights in bytes.
    fn about(&self, py: Python<'_>) -> Result<(usize, usize, usize)> {
        process::detached(py, || {
            let encoder = self.encoder.read().unwrap_or_else(PoisonError::into_inner);
            Ok((encoder.dims(), encoder.max_tokens(), encoder.bytes()?))
        })
    }
}
