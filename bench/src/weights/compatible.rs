//! Not timed: what we write opens in candle, and means the same numbers there.

use super::files::Source;
use crate::scratch::Scratch;

/// Panics unless candle reads our files as we do. Without candle there is nothing to check.
#[cfg(feature = "candle")]
pub(super) fn check(scratch: &Scratch, source: &Source) {
    use bitgrain::nn::ModelFile;

    use super::files::{convert, tensor_name};
    use crate::rival::candle::{gguf_values, safetensors_values};

    for format in ["q4_0", "q8_0", "q4_k", "q6_k", "float16"] {
        for ending in ["gguf", "safetensors"] {
            // safetensors has no blocks of its own: candle would see bytes.
            if ending == "safetensors" && format != "float16" {
                continue;
            }
            super::progress(&format!("candle's reading of {format} in {ending} (not timed)"));
            let path = scratch.file(&format!("candle-{format}.{ending}"));
            convert(&source.path, &path, format);
            let name = tensor_name(1);
            let read = if ending == "gguf" { gguf_values } else { safetensors_values };
            let theirs = read(&path, &name).expect("candle opens what we wrote");
            let model = ModelFile::open(&path).expect("a model");
            let ours = model.tensor(&name).and_then(|tensor| tensor.values()).expect("values");
            let same = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{format} in {ending}: candle reads other values than we do");
        }
    }
}

#[cfg(not(feature = "candle"))]
pub(super) fn check(_scratch: &Scratch, _source: &Source) {}
