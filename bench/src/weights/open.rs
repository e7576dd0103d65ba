//! Time to open a model and list its tensors, which must not depend on the file size.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bitgrain::formats::Layout;
use bitgrain::formats::gguf::{self, Array, TensorType, Value};
use bitgrain::formats::safetensors::{self, Dtype};
use bitgrain::nn::ModelFile;

use super::files::Source;
use super::progress;
use crate::measure::{Contestant, Pace, race};
use crate::report::{Row, Table, Unit};
use crate::scratch::Scratch;

/// Number of tensors of the large files, each of 4096 × 4096 weights.
const TENSORS: usize = 290;
const SIDE: u64 = 4096;
/// Vocabulary size of the large GGUF file, which makes up most of its header.
const VOCABULARY: usize = 32_000;

/// Measures files of every size.
pub(super) fn table(pace: Pace, scratch: &Scratch, source: &Source) -> io::Result<Table> {
    let small = small(scratch)?;
    let large = large_safetensors(scratch)?;
    let vocabulary = large_gguf(scratch)?;
    let files =
        [("safetensors", &small), ("safetensors", &source.path), ("safetensors", &large), ("gguf", &vocabulary)];
    let mut rows = Vec::new();
    for (kind, path) in files {
        let bytes = path.metadata()?.len();
        progress(&format!("opening {kind} of {bytes} bytes"));
        let tensors = ModelFile::open(path).expect("a model").tensors().len();
        let mut contestants = vec![Contestant::new("bitgrain", |_: &mut ()| inspect(path))];
        contestants.extend(candle(kind, path));
        let timings = race(pace.in_cache(), &mut (), 1, contestants);
        rows.push(Row::judged(format!("{kind}, {}, tensors: {tensors}", size(bytes)), timings));
    }
    let note = format!(
        "Opening a file and listing the names, shapes and sizes of its tensors. The file of {} is sparse with a \
         complete header, and so is the GGUF file, which has a vocabulary of {VOCABULARY} words. candle opens GGUF \
         without reading tensors.",
        size(large.metadata()?.len())
    );
    Ok(Table { title: "Open and inspect", note, unit: Unit::Milliseconds, axis: "file", figures: vec![], rows })
}

/// Reads the same fields as `bitgrain inspect`.
fn inspect(path: &Path) -> u64 {
    let model = ModelFile::open(path).expect("a model");
    model.tensors().iter().map(|tensor| tensor.name.len() as u64 + tensor.elements() + tensor.bytes()).sum()
}

#[cfg(feature = "candle")]
fn candle<'a>(kind: &str, path: &'a Path) -> Option<Contestant<'a, ()>> {
    let run = |_: &mut ()| crate::rival::candle::gguf_tensors(path).expect("a GGUF file");
    (kind == "gguf").then(|| Contestant::new("candle", run))
}

#[cfg(not(feature = "candle"))]
fn candle<'a>(_kind: &str, _path: &'a Path) -> Option<Contestant<'a, ()>> {
    None
}

fn small(scratch: &Scratch) -> io::Result<PathBuf> {
    let spec = safetensors::TensorSpec { name: "w".into(), dtype: Dtype::F32, shape: vec![32, 32] };
    sparse(scratch.file("small.safetensors"), &safetensors::layout(&[], &[spec]).map_err(io::Error::other)?)
}

fn large_safetensors(scratch: &Scratch) -> io::Result<PathBuf> {
    let name = |i| format!("model.layers.{}.self_attn.{}_proj.weight", i / 8, i % 8);
    let spec = |i| safetensors::TensorSpec { name: name(i), dtype: Dtype::BF16, shape: vec![SIDE, SIDE] };
    let specs: Vec<_> = (0..TENSORS).map(spec).collect();
    sparse(scratch.file("large.safetensors"), &safetensors::layout(&[], &specs).map_err(io::Error::other)?)
}

fn large_gguf(scratch: &Scratch) -> io::Result<PathBuf> {
    let spec = |i| gguf::TensorSpec {
        name: format!("blk.{}.attn_{}.weight", i / 8, i % 8),
        dims: vec![SIDE, SIDE],
        kind: TensorType::Q4_K,
    };
    let specs: Vec<_> = (0..TENSORS).map(spec).collect();
    let mut metadata = gguf::Metadata::default();
    metadata.set("general.architecture", "llama");
    let words = (0..VOCABULARY).map(|i| format!("word{i}")).collect();
    metadata.set("tokenizer.ggml.tokens", Value::Array(Array::String(words)));
    sparse(scratch.file("large.gguf"), &gguf::layout(&metadata, &specs).map_err(io::Error::other)?)
}

/// Creates a file with a header and sparse data.
fn sparse(path: PathBuf, layout: &Layout) -> io::Result<PathBuf> {
    let mut file = File::create(&path)?;
    file.write_all(&layout.header)?;
    file.set_len(layout.file_len)?;
    Ok(path)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        10_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
