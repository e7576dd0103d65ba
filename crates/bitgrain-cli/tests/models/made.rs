//! Small model files, and functions that run the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bitgrain::formats::{gguf, safetensors};
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::{FormatChoice, Recipe, quantize};

pub(crate) fn bitgrain(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bitgrain")).args(arguments).output().expect("the binary runs")
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

/// Runs a command that must succeed and returns its output.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = bitgrain(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// Runs a command that must fail and returns its error message.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = bitgrain(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
    let said = text(&output.stderr).to_owned();
    assert!(said.starts_with("error: ") && !said.contains("panicked"), "{said}");
    said
}

pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

/// Returns an empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns the path of a file in a folder, as an argument.
pub(crate) fn at(folder: &Path, file: &str) -> String {
    folder.join(file).to_str().expect("UTF-8").to_owned()
}

/// Returns pseudo-random numbers from -1 to 1, most of them near 0.
pub(crate) fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| (random.f32() + random.f32() + random.f32()) / 1.5 - 1.0).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Writes a safetensors file of f32 tensors.
pub(crate) fn safetensors(path: &str, tensors: &[(&str, &[u64], Vec<f32>)]) {
    let spec = |(name, shape, _): &(&str, &[u64], Vec<f32>)| safetensors::TensorSpec {
        name: (*name).to_owned(),
        dtype: safetensors::Dtype::F32,
        shape: shape.to_vec(),
    };
    let specs: Vec<_> = tensors.iter().map(spec).collect();
    let metadata = [("format".to_owned(), "pt".to_owned())];
    let mut writer = safetensors::Writer::new(Vec::new(), &metadata, &specs).expect("a header");
    tensors.iter().for_each(|(_, _, values)| writer.write(&bytes(values)).expect("room"));
    std::fs::write(path, writer.finish().expect("complete")).expect("written");
}

/// Writes a model with two matrices and a vector.
pub(crate) fn two_layers(path: &str) {
    safetensors(
        path,
        &[
            ("layer.0.weight", &[8, 64], values(512, 1)),
            ("layer.1.weight", &[4, 64], values(256, 2)),
            ("layer.1.bias", &[64], values(64, 3)),
        ],
    );
}

/// Writes a GGUF file with many tokens, one tensor that can be dequantized and one that cannot.
pub(crate) fn gguf(path: &str) {
    let mut metadata = gguf::Metadata::default();
    metadata.set("general.architecture", "llama");
    metadata.set("general.name", "line one\nline two \u{1b}[31m");
    let tokens: Vec<String> = (0..151_936).map(|i| format!("token {i}")).collect();
    let tokens: gguf::Strings = tokens.iter().map(String::as_str).collect();
    metadata.set("tokenizer.ggml.tokens", gguf::Value::Array(gguf::Array::String(tokens)));
    let spec = |name: &str, dims: &[u64], kind| gguf::TensorSpec { name: name.to_owned(), dims: dims.to_vec(), kind };
    let specs = [
        spec("blk.0.attn_q.weight", &[32, 4], gguf::TensorType::F32),
        spec("blk.0.attn_k.weight", &[256, 2], gguf::TensorType::Q8_K),
    ];
    let mut writer = gguf::Writer::new(Vec::new(), &metadata, &specs).expect("a header");
    writer.write(&bytes(&values(128, 4))).expect("room");
    let rest = usize::try_from(specs[1].bytes().expect("known")).expect("small");
    writer.write(&vec![0; rest]).expect("room");
    std::fs::write(path, writer.finish().expect("complete")).expect("written");
}

/// Writes the model at `from` to `to` in another format.
pub(crate) fn quantized(from: &str, to: &str, format: &str) {
    let model = ModelFile::open(from).expect("a model");
    let recipe = Recipe::new(FormatChoice::To(format.parse().expect("a format")));
    quantize(&model, Path::new(to), &recipe, &()).expect("quantized");
}
