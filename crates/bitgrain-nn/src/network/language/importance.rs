//! Importances of a model's matrices: mean squares of their inputs on a text, as in llama.cpp's importance matrices.

use std::collections::BTreeMap;
use std::path::Path;

use bitgrain_files::PartFile;
use bitgrain_formats::gguf::{Array, Metadata, Strings, TensorSpec, TensorType, Value, Writer};

use super::LanguageError;
use super::cache::CacheFormat;
use super::model::LanguageModel;
use crate::{ImportanceMatrix, ModelFileError};

/// Sums of squared inputs of each matrix.
#[derive(Debug, Clone, Default)]
pub struct Importances {
    tensors: BTreeMap<String, Sums>,
    chunks: usize,
    chunk: usize,
}

/// Sums of one tensor: for each expert, the squares per column and the number of rows.
#[derive(Debug, Clone, Default)]
struct Sums {
    cols: usize,
    squares: Vec<f64>,
    rows: Vec<u64>,
}

impl Sums {
    fn add(&mut self, expert: usize, cols: usize, x: &[f32]) {
        self.cols = cols;
        if self.rows.len() <= expert {
            self.rows.resize(expert + 1, 0);
            self.squares.resize((expert + 1) * cols, 0.0);
        }
        let squares = &mut self.squares[expert * cols..][..cols];
        for row in x.chunks_exact(cols) {
            squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x) * f64::from(*x));
            self.rows[expert] += 1;
        }
    }
}

impl LanguageModel {
    /// Reads chunks of a text and sums the squared inputs of all matrices in the layers, and with `output` those of the
    /// output matrix. `done` is called after each chunk with the number of chunks done and of all chunks.
    ///
    /// # Errors
    /// Returns [`LanguageError::ShortText`] for a text of less than one chunk, and the errors of
    /// [`Decoder::forward`](super::Decoder::forward).
    pub fn importances(
        &self,
        text: &str,
        chunk: usize,
        chunks: Option<usize>,
        output: bool,
        done: impl FnMut(usize, usize),
    ) -> Result<Importances, LanguageError> {
        self.importances_of(&self.chunks(text, chunk, chunks)?, chunk, output, done)
    }

    /// Like [`importances`](Self::importances), of chunks of tokens.
    pub(super) fn importances_of(
        &self,
        all: &[Vec<u32>],
        chunk: usize,
        output: bool,
        mut done: impl FnMut(usize, usize),
    ) -> Result<Importances, LanguageError> {
        let mut found = Importances { chunks: all.len(), chunk, ..Importances::default() };
        for (at, tokens) in all.iter().enumerate() {
            let mut watch = |tensor: &str, expert: usize, x: &[f32], rows: usize| {
                if output || tensor.starts_with("blk.") {
                    let cols = x.len() / rows.max(1);
                    found.tensors.entry(tensor.to_owned()).or_default().add(expert, cols, x);
                }
            };
            let from = if output { 0 } else { tokens.len() };
            self.decoder().forward_watched(tokens, &mut self.cache(CacheFormat::F16)?, from, &mut watch)?;
            done(at + 1, all.len());
        }
        // Experts that no token chose have no sums yet.
        for (_, sums) in found.tensors.iter_mut().filter(|(name, _)| name.contains("_exps.")) {
            sums.rows.resize(self.decoder().experts(), 0);
            sums.squares.resize(sums.rows.len() * sums.cols, 0.0);
        }
        Ok(found)
    }
}

impl Importances {
    /// Returns the number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Returns whether no tensor was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Returns the number of chunks read.
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.chunks
    }

    /// Returns the mean squares of the columns of a tensor, for each expert after the other; 0 for experts that no token
    /// chose.
    #[must_use]
    pub fn of(&self, tensor: &str) -> Option<Vec<f32>> {
        let sums = self.tensors.get(tensor)?;
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a mean of f32 squares")]
        let mean = |(squares, rows): (&[f64], &u64)| -> Vec<f32> {
            squares.iter().map(|sum| (sum / (*rows).max(1) as f64) as f32).collect()
        };
        Some(sums.squares.chunks_exact(sums.cols).zip(&sums.rows).flat_map(mean).collect())
    }

    /// Returns the mean squares of all tensors, for the quantizer.
    #[must_use]
    pub fn matrix(&self) -> ImportanceMatrix {
        ImportanceMatrix::of_columns(self.tensors.iter().filter_map(|(name, sums)| {
            let values = self.of(name)?;
            Some((name.clone(), sums.cols, values))
        }))
    }

    /// Writes a GGUF file as llama.cpp's `llama-imatrix` does; `text` names the source in its metadata.
    ///
    /// # Errors
    /// Returns [`LanguageError::Model`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>, text: &str) -> Result<(), LanguageError> {
        let path = path.as_ref();
        let mut metadata = Metadata::default();
        metadata.set("general.type", "imatrix");
        let sources: Strings = [text].into_iter().collect();
        metadata.set("imatrix.datasets", Value::Array(Array::String(sources)));
        metadata.set("imatrix.chunk_count", u32::try_from(self.chunks).unwrap_or(u32::MAX));
        metadata.set("imatrix.chunk_size", u32::try_from(self.chunk).unwrap_or(u32::MAX));
        let spec = |name: String, dims: Vec<u64>| TensorSpec { name, dims, kind: TensorType::F32 };
        let specs: Vec<TensorSpec> = self
            .tensors
            .iter()
            .flat_map(|(name, sums)| {
                let experts = sums.rows.len() as u64;
                [
                    spec(format!("{name}.in_sum2"), vec![sums.cols as u64, experts]),
                    spec(format!("{name}.counts"), vec![1, experts]),
                ]
            })
            .collect();
        let wrong = |source| ModelFileError::Write { path: path.to_owned(), source };
        let mut writer = Writer::new(Vec::new(), &metadata, &specs).map_err(wrong)?;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "llama.cpp stores sums as f32"
        )]
        for sums in self.tensors.values() {
            let squares: Vec<u8> = sums.squares.iter().flat_map(|sum| (*sum as f32).to_le_bytes()).collect();
            let counts: Vec<u8> = sums.rows.iter().flat_map(|rows| (*rows as f32).to_le_bytes()).collect();
            writer.write(&squares).map_err(wrong)?;
            writer.write(&counts).map_err(wrong)?;
        }
        let file = writer.finish().map_err(wrong)?;
        PartFile::write_atomic(path, &file).map_err(LanguageError::io(path))
    }
}
