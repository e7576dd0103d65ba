//! Model files: round trips through all containers and formats, and errors for invalid files.

mod conversion;
mod hostile;
mod language;
mod opening;
mod planning;

use std::path::{Path, PathBuf};

use bitgrain_formats::{gguf, safetensors};
use bitgrain_nn::ModelFile;

/// An f32 tensor to write.
struct Weights {
    name: &'static str,
    shape: Vec<u64>,
    values: Vec<f32>,
}

/// Returns deterministic, roughly normal weights with a few outliers.
fn weights(name: &'static str, shape: &[u64]) -> Weights {
    let count: u64 = shape.iter().product();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (name.len() as u64) << 32;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(u16::try_from(state >> 48).expect("16 bits")) / 65536.0 - 0.5
    };
    let values = (0..count).map(|i| (0..4).map(|_| uniform()).sum::<f32>() * if i % 97 == 5 { 0.5 } else { 0.05 });
    Weights { name, shape: shape.into(), values: values.collect() }
}

/// Returns two matrices of different widths, one whose width fits no block, a vector and a scalar.
fn small_model() -> Vec<Weights> {
    vec![
        weights("blk.0.attn.weight", &[6, 256]),
        weights("blk.0.mlp.weight", &[2, 3, 512]),
        weights("blk.1.mlp.weight", &[4, 96]),
        weights("odd.weight", &[5, 37]),
        weights("norm.weight", &[256]),
        weights("scale", &[]),
    ]
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn write_safetensors(path: &Path, tensors: &[Weights]) {
    let spec = |t: &Weights| safetensors::TensorSpec {
        name: t.name.into(),
        dtype: safetensors::Dtype::F32,
        shape: t.shape.clone(),
    };
    let specs: Vec<_> = tensors.iter().map(spec).collect();
    let metadata = [("format".to_owned(), "pt".to_owned())];
    let mut writer = safetensors::Writer::new(Vec::new(), &metadata, &specs).expect("valid file");
    tensors.iter().for_each(|t| writer.write(&bytes(&t.values)).expect("in memory"));
    std::fs::write(path, writer.finish().expect("complete")).expect("writable");
}

fn write_gguf(path: &Path, metadata: &gguf::Metadata, tensors: &[Weights]) {
    let spec = |t: &Weights| gguf::TensorSpec {
        name: t.name.into(),
        dims: t.shape.iter().rev().copied().collect(),
        kind: gguf::TensorType::F32,
    };
    let specs: Vec<_> = tensors.iter().map(spec).collect();
    let mut writer = gguf::Writer::new(Vec::new(), metadata, &specs).expect("valid file");
    tensors.iter().for_each(|t| writer.write(&bytes(&t.values)).expect("in memory"));
    std::fs::write(path, writer.finish().expect("complete")).expect("writable");
}

/// A temporary directory.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the names of all files in the directory.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<_> =
            entries.map(|e| e.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn safetensors(&self, name: &str, tensors: &[Weights]) -> ModelFile {
        write_safetensors(&self.path(name), tensors);
        ModelFile::open(self.path(name)).expect("valid model")
    }
}
