//! Compatibility check, not timed: candle reads the same values from our files.

use super::files::Source;
use crate::scratch::Scratch;

/// Panics unless candle reads the same values from our files. Does nothing without candle.
#[cfg(feature = "candle")]
pub(super) fn check(scratch: &Scratch, source: &Source) {
    use bitgrain::nn::ModelFile;

    use super::files::{convert, tensor_name};
    use crate::rival::candle::{gguf_values, safetensors_values};

    for format in ["q4_0", "q8_0", "q4_k", "q6_k", "float16"] {
        for ending in ["gguf", "safetensors"] {
            // candle cannot decode blocks in safetensors files.
            if ending == "safetensors" && format != "float16" {
                continue;
            }
            super::progress(&format!("candle's reading of {format} in {ending} (not timed)"));
            let path = scratch.file(&format!("candle-{format}.{ending}"));
            convert(&source.path, &path, format);
            let name = tensor_name(1);
            let read = if ending == "gguf" { gguf_values } else { safetensors_values };
            let theirs = read(&path, &name).expect("candle opens our file");
            let model = ModelFile::open(&path).expect("a model");
            let ours = model.tensor(&name).and_then(|tensor| tensor.values()).expect("values");
            let same = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{format} in {ending}: candle reads different values");
        }
    }
}

#[cfg(not(feature = "candle"))]
pub(super) fn check(_scratch: &Scratch, _source: &Source) {}
