//! Conversion of files with `bitgrain::nn::model::convert::quantize`, compared with a copy.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use bitgrain::codec::weight::WeightFormat;
use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain::nn::ModelFile;
use bitgrain::nn::model::convert::{FormatChoice, Recipe, quantize};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::progress;
use crate::data;
use crate::measure::{Contestant, Pace, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::scratch::Scratch;

/// Rows and columns of each matrix.
const SIDE: u64 = 1024;

/// Formats and containers to convert to.
const TARGETS: [(&str, &str); 4] = [("q4_0", "gguf"), ("q8_0", "gguf"), ("q4_k", "gguf"), ("int8", "safetensors")];

/// A model of f32 matrices in one safetensors file.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) bytes: usize,
}

impl Source {
    /// Writes 22 matrices, 92 MB in total: as many weights as a small sentence encoder.
    pub(super) fn make(scratch: &Scratch, pace: Pace) -> io::Result<Self> {
        let count = if pace == Pace::Full { 22 } else { 4 };
        let path = scratch.file("model.safetensors");
        let spec = |i| TensorSpec { name: tensor_name(i), dtype: Dtype::F32, shape: vec![SIDE, SIDE] };
        let specs: Vec<TensorSpec> = (0..count).map(spec).collect();
        let mut writer = Writer::new(BufWriter::new(File::create(&path)?), &[], &specs).map_err(io::Error::other)?;
        let values = data::normal(count * usize::try_from(SIDE * SIDE).unwrap_or(usize::MAX));
        for run in values.chunks(1 << 16) {
            let bytes: Vec<u8> = run.iter().flat_map(|value| value.to_le_bytes()).collect();
            writer.write(&bytes).map_err(io::Error::other)?;
        }
        writer.finish().map_err(io::Error::other)?.flush()?;
        let bytes = usize::try_from(path.metadata()?.len()).unwrap_or(usize::MAX);
        Ok(Self { path, bytes })
    }
}

/// Returns the name of a matrix.
pub(super) fn tensor_name(index: usize) -> String {
    format!("blk.{index:02}.weight")
}

/// Converts a file with the threads of the current pool.
pub(super) fn convert(from: &Path, to: &Path, format: &str) {
    let format: WeightFormat = format.parse().expect("the name of a format");
    let model = ModelFile::open(from).expect("a model");
    quantize(&model, to, &Recipe::new(FormatChoice::To(format)), &()).expect("finite weights in whole blocks");
}

/// Measures every target, with one and two threads.
pub(super) fn table(pace: Pace, scratch: &Scratch, source: &Source) -> Table {
    let pools = [pool(1), pool(2)];
    let [one, two] = &pools;
    let copied = scratch.file("copy.safetensors");
    let mut rows = Vec::new();
    for (format, ending) in TARGETS {
        progress(&format!("conversion of a file to {format}"));
        let out = scratch.file(&format!("{format}.{ending}"));
        let to = |pool: &ThreadPool| pool.install(|| convert(&source.path, &out, format));
        // Check that the file does not depend on the number of threads.
        to(one);
        let first = std::fs::read(&out).expect("it was just written");
        to(two);
        assert!(std::fs::read(&out).expect("it was just written") == first, "{format}: threads change the file");
        let contestants = vec![
            Contestant::new("copy", |_: &mut ()| copy(&source.path, &copied).expect("room for a copy")),
            Contestant::new("1 thread", |_: &mut ()| to(one)),
            Contestant::new("2 threads", |_: &mut ()| to(two)),
        ];
        let timings = race(pace.seconds_a_call(), &mut (), source.bytes, contestants);
        rows.push(Row::judged(format!("{format}, .{ending}"), timings));
    }
    Table {
        title: "Convert a file",
        note: format!(
            "A safetensors file of {} MB, opened, quantized, compared with the original to report its errors, and \
             written; `copy` reads and writes the same file in pieces. Files are in memory (`/dev/shm`, unless \
             `TMPDIR` is set).",
            source.bytes / 1_000_000
        ),
        unit: Unit::GbPerS("input file"),
        axis: "target",
        figures: vec![
            Figure::ratio("1 thread", "copy"),
            Figure::ratio("2 threads", "copy"),
            Figure::ratio("2 threads", "1 thread"),
        ],
        rows,
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread or two")
}

/// Copies a file in pieces. `fs::copy` could let the file system share the blocks.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut piece = vec![0; 1 << 20];
    loop {
        let len = from.read(&mut piece)?;
        if len == 0 {
            return to.sync_all();
        }
        to.write_all(&piece[..len])?;
    }
}
