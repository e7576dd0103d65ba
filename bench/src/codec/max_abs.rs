//! Largest magnitude: of a large slice compared with the read bandwidth, of short blocks compared with a simple loop.

use std::hint::black_box;

use bitgrain::kernels::{Backend, max_abs};

use super::{IN_CACHE, best, progress};
use crate::buffer::Buffer;
use crate::data;
use crate::measure::{Contestant, Effort, race};
use crate::report::{Figure, Row, Table, Unit};

/// Number of values of a block in cache.
const BLOCK: usize = 512;

/// Measures one large slice.
pub(super) fn in_memory(effort: Effort, mut values: &[f32]) -> Table {
    progress("max_abs");
    for &backend in Backend::available() {
        assert_eq!(max_abs(backend, values).to_bits(), plain_loop(values).to_bits(), "{backend}");
    }
    let mut list = vec![Contestant::new("read", |values: &mut &[f32]| xor_of(values))];
    list.extend(Contestant::backends(|backend, values: &mut &[f32]| max_abs(backend, values)));
    let bytes = size_of_val(values);
    Table {
        title: "max_abs",
        note: "`read` combines the same bytes with xor and measures the read bandwidth of one core.".into(),
        unit: Unit::GbPerS("f32 input"),
        axis: "input",
        figures: vec![Figure::ratio(best(), "read")],
        rows: vec![Row::judged(format!("{} MiB", bytes >> 20), race(effort, &mut values, bytes, list))],
    }
}

/// Measures blocks of 512 values, one call each.
pub(super) fn in_cache(effort: Effort) -> Table {
    progress("max_abs in cache");
    let mut values = data::normal(IN_CACHE);
    for (&backend, block) in Backend::available().iter().flat_map(|b| values.chunks(BLOCK).map(move |c| (b, c))) {
        assert_eq!(max_abs(backend, block).to_bits(), plain_loop(block).to_bits(), "{backend}");
    }
    let mut list = vec![Contestant::new("plain loop", |values: &mut Buffer<f32>| each_block(values, plain_loop))];
    list.extend(Contestant::backends(|backend, values: &mut Buffer<f32>| {
        each_block(values, |block| max_abs(backend, block));
    }));
    let bytes = size_of_val(&*values);
    Table {
        title: "max_abs in cache",
        note: "One call per block of 512 values. The plain loop is `if v.abs() > m { m = v.abs() }`, which compilers \
               do not vectorize."
            .into(),
        unit: Unit::GbPerS("f32 input"),
        axis: "block",
        figures: vec![Figure::ratio(best(), "plain loop").at_least(3.0), Figure::ratio(best(), "scalar")],
        rows: vec![Row::judged(format!("{BLOCK} values"), race(effort, &mut values, bytes, list))],
    }
}

fn each_block(values: &[f32], max: impl Fn(&[f32]) -> f32) {
    for block in values.chunks_exact(BLOCK) {
        black_box(max(black_box(block)));
    }
}

/// The obvious implementation.
#[inline(never)]
fn plain_loop(values: &[f32]) -> f32 {
    let mut max = 0.0;
    for v in values {
        let a = v.abs();
        if a > max {
            max = a;
        }
    }
    max
}

/// Reads all values with minimal work. Independent lanes let the compiler use vectors.
fn xor_of(values: &[f32]) -> u32 {
    let mut lanes = [0; 32];
    for chunk in values.as_chunks::<32>().0 {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane ^= value.to_bits();
        }
    }
    lanes.iter().fold(0, |all, lane| all ^ lane)
}
