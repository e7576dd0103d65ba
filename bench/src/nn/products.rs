//! Products with a matrix of 4096 × 4096 weights: of a vector, and of batches of 4 and 32.

use bitgrain::codec::weight::{DType, GgmlBlock, QuantizedTensor, ScaledFormat, WeightFormat};
use bitgrain::kernels::Backend;
use bitgrain::nn::network::product::PackedMatrix;
use rayon::prelude::*;

use super::{on, progress};
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Pace, Timing, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::Product;
use crate::rival::ggml::{Cpu, Layout};

/// Number of rows and columns.
const SIDE: usize = 4096;
/// Number of rows of the larger batches.
const BATCHES: [usize; 2] = [4, 32];
/// Bytes that a thread reads before it takes the next piece.
const READ: usize = 256 << 10;

/// Measured format, with the closest equivalents of the other libraries.
struct Kind {
    format: WeightFormat,
    rivals: WeightFormat,
}

fn kinds() -> impl Iterator<Item = Kind> {
    let blocks = GgmlBlock::ALL.map(|block| Kind { format: block.into(), rivals: block.into() });
    let like = |dtype, rivals| Kind { format: ScaledFormat::new(dtype).into(), rivals };
    let plain = |dtype| like(dtype, ScaledFormat::new(dtype).into());
    let scaled = [like(DType::Int8, GgmlBlock::Q8_0.into()), like(DType::Int4, GgmlBlock::Q4_0.into())];
    let floats = [DType::Float32, DType::Float16, DType::BFloat16].map(plain);
    blocks.into_iter().chain(scaled).chain(floats)
}

/// Number of tables.
pub(super) const TABLES: usize = 6;

/// Rows of each table, in table order.
pub(super) type Rows = [Vec<Row>; TABLES];

/// Titles on the fastest backend and on AVX2.
const TITLES: [[&str; 2]; TABLES] = [
    ["Matrix times vector", "Matrix times vector, AVX2"],
    ["Matrix times a batch of 4", "Matrix times a batch of 4, AVX2"],
    ["Matrix times a batch of 32", "Matrix times a batch of 32, AVX2"],
    ["Matrix times vector, int8 compared with f32", "Matrix times vector, int8 compared with f32, AVX2"],
    [
        "Matrix times vector in every format of at most 32 bits, compared with f32, one thread",
        "Matrix times vector in every format of at most 32 bits, compared with f32, one thread, AVX2",
    ],
    [
        "Matrix times vector in every format of 64 bits, compared with f32, one thread",
        "Matrix times vector in every format of 64 bits, compared with f32, one thread, AVX2",
    ],
];

/// Measures each format and batch, int8 against f32, and with one thread every format against f32. candle takes part
/// if `is_best`, because it cannot be limited to AVX2.
pub(super) fn rows(pace: Pace, cpu: Option<&Cpu<'_>>, threads: usize, is_best: bool, formats: &[WeightFormat]) -> Rows {
    let is_wanted = |format: &WeightFormat| formats.is_empty() || formats.contains(format);
    let weights = data::normal(SIDE * SIDE);
    let [mut vectors, mut small, mut batches, mut own] = [const { Vec::new() }; 4];
    let floats = packed(quantized(ScaledFormat::new(DType::Float32).into(), &weights));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    for kind in kinds().filter(|kind| is_wanted(&kind.format)) {
        let matrix = packed(quantized(kind.format, &weights));
        let rivals = quantized(kind.rivals, &weights);
        let label = format!("{}, {}", kind.format, on(threads));
        progress(&format!("products: {label}, {}", Backend::best()));
        for (batch, rows) in [(1, &mut vectors), (BATCHES[0], &mut small), (BATCHES[1], &mut batches)] {
            let rivals = Rivals { weights: &rivals, cpu, threads, has_candle: is_best };
            let timings = pool.install(|| compete(pace, &matrix, &rivals, batch));
            rows.push(Row::judged(label.clone(), timings));
        }
        if kind.format == ScaledFormat::new(DType::Int8).into() {
            own.push(Row::judged(label, pool.install(|| against_floats(pace, &matrix, &floats))));
        }
    }
    let every =
        if threads == 1 { pool.install(|| every_format(pace, &weights, &floats, is_wanted)) } else { Vec::new() };
    let (narrow, wide) = every.into_iter().partition(|row| !row.label.contains("64"));
    [vectors, small, batches, own, narrow, wide]
}

/// Collects the results with their targets.
pub(super) fn tables(rows: Rows, is_best: bool) -> Vec<Table> {
    let mut figures: Vec<_> = is_best.then(|| Figure::ratio("bitgrain", "candle").at_least(1.5)).into_iter().collect();
    figures.extend(Layout::ALL.map(|layout| Figure::ratio("bitgrain", layout.name()).at_least(1.0)));
    figures.push(Figure::ratio("bitgrain", "read"));
    let against = |bar| vec![Figure::ratio("bitgrain", "f32").at_least(bar)];
    let note = "int8 is compared with Q8_0, int4 with Q4_0. ggml repacks Q8_0 for AMX only; its AMX \
                layouts of K-quants are left out, because they end the process with an illegal instruction. *read* is the time that \
                the same number of threads take to sum the bytes of our packed weights, and bitgrain / read the share \
                of this bandwidth that the product reaches.";
    let narrow = "Codes of at most 8 bits are multiplied as integers; floats of 8 and 16 bits and integers of 16 and 32 \
                  bits are converted in registers.";
    let tables = [
        (note, figures.clone()),
        (note, figures.clone()),
        (note, figures),
        ("", against(3.0)),
        (narrow, against(1.0)),
        ("Twice the bytes of f32, and so half its speed.", against(0.5)),
    ];
    let named = TITLES.into_iter().zip(tables).zip(rows);
    named
        .map(|((titles, (note, figures)), rows)| Table {
            title: titles[usize::from(!is_best)],
            note: note.to_owned(),
            unit: Unit::Milliseconds,
            axis: "weights",
            figures,
            rows,
        })
        .collect()
}

/// Returns all weight formats except f32.
fn every_format(
    pace: Pace,
    weights: &[f32],
    floats: &PackedMatrix,
    is_wanted: impl Fn(&WeightFormat) -> bool,
) -> Vec<Row> {
    let formats = WeightFormat::all().filter(|format| *format != DType::Float32.into() && is_wanted(format));
    let row = |format: WeightFormat| {
        progress(&format!("products: {format}"));
        Row::judged(format.to_string(), against_floats(pace, &packed(quantized(format, weights)), floats))
    };
    formats.map(row).collect()
}

fn quantized(format: WeightFormat, weights: &[f32]) -> QuantizedTensor {
    QuantizedTensor::quantize(format, weights, SIDE).expect("finite, whole blocks")
}

fn packed(tensor: QuantizedTensor) -> PackedMatrix {
    PackedMatrix::new(tensor).expect("finite")
}

/// Inputs and outputs of a product.
struct Memory<'a> {
    x: Vec<f32>,
    out: Vec<f32>,
    rivals: Vec<Box<dyn Product + 'a>>,
    /// Memory of the same size as the packed weights.
    words: Buffer<u64>,
}

/// The other libraries and the weights that they multiply.
struct Rivals<'a> {
    weights: &'a QuantizedTensor,
    cpu: Option<&'a Cpu<'a>>,
    threads: usize,
    has_candle: bool,
}

fn compete(pace: Pace, matrix: &PackedMatrix, others: &Rivals<'_>, batch: usize) -> Vec<Timing> {
    let x = data::normal(batch * SIDE).to_vec();
    let words = Buffer::new(matrix.bytes() / size_of::<u64>());
    let mut memory = Memory { out: vec![0.0; batch * SIDE], rivals: Vec::new(), x, words };
    let mut contestants = vec![Contestant::new("bitgrain", move |m: &mut Memory<'_>| {
        matrix.multiply(&m.x, batch, &mut m.out).expect("finite");
    })];
    let mut rivals: Vec<(&str, Option<Box<dyn Product + '_>>)> = Vec::new();
    // The release's kernels for K-quants on AMX end the process with an illegal instruction.
    let is_super = matches!(others.weights.format(), WeightFormat::Ggml(block) if block.weights() == 256);
    for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Amx || !is_super) {
        let product = others.cpu.and_then(|cpu| cpu.product(others.weights, layout, &memory.x, others.threads));
        rivals.push((layout.name(), product));
    }
    if others.has_candle {
        rivals.push(("candle", candle(others.weights, &memory.x)));
    }
    for (name, product) in rivals {
        let Some(product) = product else { continue };
        let at = memory.rivals.len();
        memory.rivals.push(product);
        contestants.push(Contestant::new(name, move |m: &mut Memory<'_>| m.rivals[at].run()));
    }
    contestants.push(Contestant::new("read", |m: &mut Memory<'_>| read(&m.words)));
    check(&mut memory, matrix, batch);
    race(pace.in_memory().brief().apart(), &mut memory, SIDE * SIDE * size_of::<f32>(), contestants)
}

#[cfg(feature = "candle")]
fn candle(weights: &QuantizedTensor, x: &[f32]) -> Option<Box<dyn Product>> {
    crate::rival::candle::product(weights, x).expect("formats it has")
}

#[cfg(not(feature = "candle"))]
fn candle(_weights: &QuantizedTensor, _x: &[f32]) -> Option<Box<dyn Product>> {
    None
}

/// Sums all words with every thread of the pool, in four independent streams, which hide memory latency best (0.62 ms
/// for 17 MB, compared with 0.68 ms for one stream and 0.64 ms for AVX-512 with prefetching).
fn read(words: &[u64]) -> u64 {
    let sum = |words: &[u64]| {
        let quarter = words.len() / 4;
        let [a, b, c, d] = [0, 1, 2, 3].map(|run| &words[run * quarter..][..quarter]);
        let mut sums = [0_u64; 4];
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            for (sum, word) in sums.iter_mut().zip([a, b, c, d]) {
                *sum = sum.wrapping_add(*word);
            }
        }
        words[4 * quarter..].iter().chain(&sums).copied().fold(0, u64::wrapping_add)
    };
    words.par_chunks(READ / size_of::<u64>()).map(sum).reduce(|| 0, u64::wrapping_add)
}

/// Panics unless all results are close to ours. They are not equal, because weights or activations are quantized
/// differently.
fn check(memory: &mut Memory<'_>, matrix: &PackedMatrix, batch: usize) {
    matrix.multiply(&memory.x, batch, &mut memory.out).expect("finite");
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x * x)).sum::<f64>().sqrt();
    let ours = norm(&mut memory.out.iter().copied());
    for rival in &mut memory.rivals {
        rival.run();
        let theirs = rival.result();
        assert_eq!(theirs.len(), memory.out.len());
        let off = norm(&mut theirs.iter().zip(&memory.out).map(|(a, b)| a - b));
        assert!(off < 0.25 * ours, "a competitor's result differs from ours by {:.1} %", 100.0 * off / ours);
    }
}

fn against_floats(pace: Pace, matrix: &PackedMatrix, floats: &PackedMatrix) -> Vec<Timing> {
    let mut memory = (data::normal(SIDE).to_vec(), vec![0.0; SIDE]);
    let contestants = [("bitgrain", matrix), ("f32", floats)].map(|(name, matrix)| {
        Contestant::new(name, move |(x, out): &mut (Vec<f32>, Vec<f32>)| matrix.multiply(x, 1, out).expect("finite"))
    });
    race(pace.in_memory().brief(), &mut memory, SIDE * SIDE * size_of::<f32>(), contestants.into())
}
