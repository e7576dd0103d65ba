//! A small model and an importance matrix for it.

use std::path::Path;

use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};

/// Columns of the matrix: a multiple of every block length.
pub(crate) const COLS: usize = 256;

/// Returns the weights of the matrix `w`.
pub(crate) fn weights() -> Vec<f32> {
    let value = |i: u16| (f32::from(i) * 0.7).sin() * if i % 50 == 3 { 0.9 } else { 0.1 };
    (0..3 * 256).map(value).collect()
}

/// Returns the importance of each column of `w`.
pub(crate) fn importance() -> Vec<f32> {
    (0..256_u16).map(|i| if i % 7 == 0 { 40.0 } else { 0.1 + f32::from(i % 5) }).collect()
}

fn write(path: &Path, tensors: &[(&str, &[u64], Vec<f32>)]) {
    let spec = |(name, shape, _): &(&str, &[u64], Vec<f32>)| TensorSpec {
        name: (*name).to_owned(),
        dtype: Dtype::F32,
        shape: shape.to_vec(),
    };
    let mut writer = Writer::new(Vec::new(), &[], &tensors.iter().map(spec).collect::<Vec<_>>()).expect("a header");
    for (_, _, values) in tensors {
        writer.write(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).expect("in memory");
    }
    std::fs::write(path, writer.finish().expect("complete")).expect("writable");
}

/// Returns a folder with `model.safetensors`, which has a matrix `w` and a vector `b`, and `imatrix.safetensors`.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for tests");
    write(&folder.path().join("model.safetensors"), &[("w", &[3, 256], weights()), ("b", &[8], vec![0.5; 8])]);
    write(&folder.path().join("imatrix.safetensors"), &[("w", &[256], importance())]);
    folder
}
