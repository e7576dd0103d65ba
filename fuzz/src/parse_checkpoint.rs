//! Any bytes as a quantized checkpoint of another program, as an adapter of it, or as an ONNX model: a typed error, or weights
//! that decode.
//!
//! Input: `config.json`, the byte 0xff, `adapter_config.json`, the byte 0xff, and `model.safetensors`. If the second part
//! is not empty, the last one starts with the length of `model.safetensors` as a little-endian u16, and the rest is
//! `adapter_model.safetensors`. An input that starts with the byte 8, as models do that begin with their version, is an ONNX
//! model. Spec: `spec/checkpoints.md`.

use bitgrain::nn::ModelFile;
use bitgrain::nn::model::merge_adapter;

use crate::folder::Folder;

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    if input.starts_with(&[8]) {
        let folder = Folder::holding("model.onnx", input);
        if let Ok(model) = ModelFile::open(folder.path().join("model.onnx")) {
            decode(&model);
        }
        return;
    }
    let mut parts = input.splitn(3, |byte| *byte == 0xff);
    let mut next = || parts.next().unwrap_or_default();
    let (config, adapter, weights) = (next(), next(), next());
    let (weights, updates) = match weights.split_first_chunk() {
        Some((len, rest)) if !adapter.is_empty() => {
            rest.split_at(usize::from(u16::from_le_bytes(*len)).min(rest.len()))
        }
        _ => (weights, &[][..]),
    };
    let folder = Folder::new();
    folder.write("config.json", config);
    folder.write("model.safetensors", weights);
    let Ok(model) = ModelFile::open(folder.path()) else { return };
    decode(&model);
    if adapter.is_empty() {
        return;
    }
    folder.write("adapter_config.json", adapter);
    folder.write("adapter_model.safetensors", updates);
    if let Ok(merged) = merge_adapter(&model, folder.path()) {
        assert_eq!(merged.tensors().len(), model.tensors().len());
        decode(&merged);
    }
}

fn decode(model: &ModelFile) {
    for tensor in model.tensors() {
        if let Ok(values) = tensor.values() {
            assert_eq!(values.len() as u64, tensor.elements(), "{}", tensor.name);
        }
    }
}
