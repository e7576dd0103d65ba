//! Cosine similarity of sentence vectors, and files of vectors.

use std::path::Path;

use bitgrain_codec::Fidelity;
use bitgrain_files::PartFile;
use bitgrain_formats::npy::f32_header;

use crate::ModelFileError;

/// Returns the cosine similarity: 1 for the same direction, 0 for orthogonal vectors, NaN for vectors of different
/// lengths.
///
/// ```
/// use bitgrain_nn::network::embed::cosine;
/// assert_eq!(cosine(&[0.0, 1.0], &[0.0, 1.0]), 1.0);
/// assert_eq!(cosine(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
/// ```
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    Fidelity::measure(a, b).map_or(f64::NAN, |between| between.cosine)
}

/// Returns the index of the vector most similar to the one at `index` and their similarity; `None` without another
/// vector.
#[must_use]
pub fn nearest_neighbor(vectors: &[Vec<f32>], index: usize) -> Option<(usize, f64)> {
    let own = vectors.get(index)?;
    let others = vectors.iter().enumerate().filter(|(other, _)| *other != index);
    others
        .map(|(other, vector)| (other, cosine(own, vector)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Writes vectors of length `dims` as the rows of an npy file, atomically.
///
/// # Errors
/// Returns [`ModelFileError::Io`] if the file cannot be written.
pub fn save_npy(path: impl AsRef<Path>, vectors: &[Vec<f32>], dims: usize) -> Result<(), ModelFileError> {
    let mut file = f32_header(&[vectors.len() as u64, dims as u64]);
    file.extend(vectors.iter().flatten().flat_map(|value| value.to_le_bytes()));
    PartFile::write_atomic(path.as_ref(), &file).map_err(ModelFileError::io(path.as_ref()))
}
