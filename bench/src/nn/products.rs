//! Products with a matrix of 4096 × 4096 weights: of a vector, and of a batch of 32.

use bitgrain::codec::weight::{DType, GgmlBlock, QuantizedTensor, ScaledFormat, WeightFormat};
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
/// Number of rows of the larger batch.
const BATCH: usize = 32;
/// Bytes that a thread reads before it takes the next piece.
const READ: usize = 256 << 10;

/// Measured format, with the closest equivalents of the other libraries.
struct Kind {
    format: WeightFormat,
    rivals: Option<GgmlBlock>,
}

fn kinds() -> [Kind; 5] {
    let scaled = |dtype, rivals| Kind { format: ScaledFormat::new(dtype).into(), rivals };
    [
        Kind { format: GgmlBlock::Q4_0.into(), rivals: Some(GgmlBlock::Q4_0) },
        Kind { format: GgmlBlock::Q8_0.into(), rivals: Some(GgmlBlock::Q8_0) },
        scaled(DType::Int8, Some(GgmlBlock::Q8_0)),
        scaled(DType::Int4, Some(GgmlBlock::Q4_0)),
        scaled(DType::Float32, None),
    ]
}

/// Rows of each table, in table order.
pub(super) type Rows = [Vec<Row>; 4];

/// Measures each format and batch, int8 against f32, and with one thread every format against f32.
pub(super) fn rows(pace: Pace, cpu: Option<&Cpu<'_>>, threads: usize) -> Rows {
    let weights = data::normal(SIDE * SIDE);
    let [mut vectors, mut batches, mut own] = [Vec::new(), Vec::new(), Vec::new()];
    let floats = packed(ScaledFormat::new(DType::Float32).into(), &weights);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    for kind in kinds() {
        let matrix = packed(kind.format, &weights);
        let label = format!("{}, {}", kind.format, on(threads));
        progress(&format!("products: {label}"));
        for (batch, rows) in [(1, &mut vectors), (BATCH, &mut batches)] {
            let timings = pool.install(|| compete(pace, &kind, &matrix, &weights, batch, threads, cpu));
            // The targets apply to quantized weights.
            rows.push(Row { judged: kind.rivals.is_some(), ..Row::judged(label.clone(), timings) });
        }
        if kind.format == ScaledFormat::new(DType::Int8).into() {
            own.push(Row::judged(label, pool.install(|| against_floats(pace, &matrix, &floats))));
        }
    }
    let every = if threads == 1 { pool.install(|| every_format(pace, &weights, &floats)) } else { Vec::new() };
    [vectors, batches, own, every]
}

/// Collects the results with their targets.
pub(super) fn tables([vectors, batches, own, every]: Rows) -> Vec<Table> {
    let mut figures = vec![Figure::ratio("bitgrain", "candle").at_least(1.5)];
    figures.extend(Layout::ALL.map(|layout| Figure::ratio("bitgrain", layout.name()).at_least(1.0)));
    figures.push(Figure::ratio("bitgrain", "read"));
    let table = |title, note: &str, figures, rows| Table {
        title,
        note: note.to_owned(),
        unit: Unit::Milliseconds,
        axis: "weights",
        figures,
        rows,
    };
    let note = "int8 is compared with Q8_0, int4 with Q4_0. ggml repacks Q8_0 for AMX only. *read* is the time that \
                the same number of threads take to sum the bytes of our packed weights: a lower bound for any \
                product with weights of that size.";
    vec![
        table("Matrix times vector", note, figures.clone(), vectors),
        table("Matrix times a batch of 32", note, figures, batches),
        table("Matrix times vector, compared with f32", "", vec![Figure::ratio("bitgrain", "f32").at_least(3.0)], own),
        table(
            "Matrix times vector in every format, compared with f32, one thread",
            "The fast formats are multiplied as integers. The weights of other formats are unpacked a few at a time \
             and multiplied as f32.",
            vec![Figure::ratio("bitgrain", "f32")],
            every,
        ),
    ]
}

/// Returns all weight formats except f32.
fn every_format(pace: Pace, weights: &[f32], floats: &PackedMatrix) -> Vec<Row> {
    let formats = WeightFormat::all().filter(|format| *format != DType::Float32.into());
    let row = |format: WeightFormat| {
        progress(&format!("products: {format}"));
        let matrix = packed(format, weights);
        Row { judged: false, ..Row::judged(format.to_string(), against_floats(pace, &matrix, floats)) }
    };
    formats.map(row).collect()
}

fn packed(format: WeightFormat, weights: &[f32]) -> PackedMatrix {
    let tensor = QuantizedTensor::quantize(format, weights, SIDE).expect("finite, whole blocks");
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

fn compete(
    pace: Pace,
    kind: &Kind,
    matrix: &PackedMatrix,
    weights: &[f32],
    batch: usize,
    threads: usize,
    cpu: Option<&Cpu<'_>>,
) -> Vec<Timing> {
    let x = data::normal(batch * SIDE).to_vec();
    let words = Buffer::new(matrix.bytes() / size_of::<u64>());
    let mut memory = Memory { out: vec![0.0; batch * SIDE], rivals: Vec::new(), x, words };
    let mut contestants = vec![Contestant::new("bitgrain", move |m: &mut Memory<'_>| {
        matrix.multiply(&m.x, batch, &mut m.out).expect("finite");
    })];
    let mut rivals: Vec<(&str, Option<Box<dyn Product + '_>>)> = Vec::new();
    for layout in Layout::ALL {
        let product = cpu.and_then(|cpu| cpu.product(kind.rivals, layout, weights, SIDE, &memory.x, threads));
        rivals.push((layout.name(), product));
    }
    rivals.push(("candle", candle(kind.rivals, weights, &memory.x)));
    for (name, product) in rivals {
        let Some(product) = product else { continue };
        let at = memory.rivals.len();
        memory.rivals.push(product);
        contestants.push(Contestant::new(name, move |m: &mut Memory<'_>| m.rivals[at].run()));
    }
    contestants.push(Contestant::new("read", |m: &mut Memory<'_>| read(&m.words)));
    check(&mut memory, matrix, batch);
    race(pace.in_memory().apart(), &mut memory, size_of_val(weights), contestants)
}

#[cfg(feature = "candle")]
fn candle(block: Option<GgmlBlock>, weights: &[f32], x: &[f32]) -> Option<Box<dyn Product>> {
    crate::rival::candle::product(block, weights, SIDE, x).expect("formats it has")
}

#[cfg(not(feature = "candle"))]
fn candle(_block: Option<GgmlBlock>, _weights: &[f32], _x: &[f32]) -> Option<Box<dyn Product>> {
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
    race(pace.in_memory(), &mut memory, SIDE * SIDE * size_of::<f32>(), contestants.into())
}
