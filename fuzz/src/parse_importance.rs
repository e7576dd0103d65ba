//! Any bytes as a model file with importances, in every container: a typed error, or valid importances.
//!
//! Input: a GGUF, safetensors, npy or npz file; or, if it starts with a brace, the index of a sharded model, the byte
//! 0xff, and its only shard. Spec: `spec/weights.md`.

use bitgrain::nn::{ImportanceMatrix, ModelFile};

use crate::folder::Folder;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let folder = if input.starts_with(b"{") { sharded(input) } else { Folder::holding("model", input) };
    let path = if input.starts_with(b"{") { folder.path().to_owned() } else { folder.path().join("model") };
    let Ok(model) = ModelFile::open(&path) else { return };
    for tensor in model.tensors() {
        if let Ok(values) = tensor.values() {
            assert_eq!(values.len() as u64, tensor.elements(), "{}", tensor.name);
        }
    }
    let Ok(importance) = ImportanceMatrix::open(&path) else { return };
    for tensor in model.tensors() {
        if let Ok(Some(values)) = importance.of(tensor) {
            assert!(values.iter().all(|value| value.is_finite() && *value >= 0.0), "{}", tensor.name);
        }
    }
}

fn sharded(input: &[u8]) -> Folder {
    let folder = Folder::new();
    let mut parts = input.splitn(2, |byte| *byte == 0xff);
    for name in ["model.safetensors.index.json", "a.safetensors"] {
        folder.write(name, parts.next().unwrap_or_default());
    }
    folder
}
