//! Reads of tensors and of parts of them, with one thread.

use super::arrays::Arrays;
use super::keeper::{FLOOR_OF_GET, Keeper, OURS, SEED, filled, keepers};
use super::tensors::{Tensors, thousands};
use super::{LARGE, SMALL, pool, progress};
use crate::buffer::Buffer;
use crate::data::{self, Random};
use crate::measure::{Contestant, Pace, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::store::Shelf;
use crate::scratch::Scratch;

/// Numbers of rows read from a tensor of 1,000 rows.
const PARTS: [usize; 3] = [1, 10, 100];

/// Target: at most 1.3 times the time of the lower bound.
const NEAR_THE_FLOOR: f64 = 0.77;

/// Random order of reads, and a buffer for a tensor.
struct Draw {
    random: Random,
    count: usize,
    out: Buffer<f32>,
}

impl Draw {
    fn new(tensors: &Tensors, count: usize) -> Self {
        Self { random: Random::new(data::SEED), count, out: Buffer::new(tensors.len()) }
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.random.next() % limit as u64).unwrap_or(0)
    }

    fn get(&mut self, shelf: &mut dyn Shelf) {
        let id = self.below(self.count) as u128;
        shelf.get(id, &mut self.out);
    }
}

/// Storage of all contenders, filled with the same tensors and checked.
struct Shelves {
    tensors: Tensors,
    count: usize,
    all: Vec<(Keeper, Box<dyn Shelf>)>,
}

impl Shelves {
    fn new(scratch: &Scratch, shape: [usize; 2], count: usize) -> Self {
        let tensors = Tensors::new(shape);
        let mut all = Vec::new();
        for (i, keeper) in keepers(FLOOR_OF_GET).into_iter().enumerate() {
            let mut shelf = filled(&keeper, &scratch.file(&format!("get-{i}")), &tensors, count);
            keeper.check(&mut *shelf, &tensors, count);
            all.push((keeper, shelf));
        }
        let mut shelves = Self { tensors, count, all };
        shelves.check_bits();
        shelves
    }

    /// Panics unless our store and the lower bound, which hold the same blocks, return the same bits.
    fn check_bits(&mut self) {
        let (mut a, mut b) = (vec![0.0; self.tensors.len()], vec![1.0; self.tensors.len()]);
        for id in 0..self.count as u128 {
            self.all[0].1.get(id, &mut a);
            self.all[1].1.get(id, &mut b);
            assert!(a == b, "tensor {id} differs from its decoded blocks");
        }
    }
}

/// Measures whole tensors of both sizes, and rows of large ones.
pub(super) fn tables(pace: Pace, scratch: &Scratch, arrays: &[Arrays]) -> [Table; 2] {
    let (small, large) = if pace == Pace::Full { (10_000, 16) } else { (1000, 4) };
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    for (shape, count) in [(SMALL, small), (LARGE, large)] {
        let mut shelves = Shelves::new(scratch, shape, count);
        whole.push(row(pace, &mut shelves, arrays));
        if shape == LARGE {
            parts = rows(pace, &mut shelves, arrays);
        }
    }
    let note = format!(
        "Reads of a random tensor into a buffer of the caller, out of {} tensors of 1,000 floats or {large} of \
         1,000,000. `{FLOOR_OF_GET}` reads the same blocks from one file with `pread` and decodes them, without an \
         index or checksums; ours verifies every byte, and the results are bit-identical. redb and LMDB begin a \
         transaction for each tensor and copy raw f32 without verifying a checksum; LMDB copies from a memory-mapped \
         file. safetensors opens and reads a file. tensorstore and zarr run in Python and open an array for each \
         tensor.",
        thousands(small)
    );
    let figures = vec![
        Figure::ratio(OURS, FLOOR_OF_GET).at_least(NEAR_THE_FLOOR),
        Figure::ratio(OURS, SEED).at_least(10.0),
        Figure::ratio(OURS, "redb"),
        Figure::ratio(OURS, "LMDB"),
    ];
    let get = Table { title: "Get", note, unit: Unit::Microseconds, axis: "tensor", figures, rows: whole };
    let note =
        "Reads of random rows of a tensor of 1,000 × 1,000 floats. Ours reads and verifies the head of the record \
                and the 16 KiB chunks that contain the rows; redb reads the whole value. The arrays of tensorstore \
                and zarr have chunks of 100 rows."
            .to_owned();
    let figures = vec![Figure::ratio(OURS, FLOOR_OF_GET), Figure::ratio(OURS, "redb"), Figure::ratio(OURS, "LMDB")];
    [get, Table { title: "Get rows", note, unit: Unit::Microseconds, axis: "rows", figures, rows: parts }]
}

fn row(pace: Pace, shelves: &mut Shelves, arrays: &[Arrays]) -> Row {
    let label = shelves.tensors.label();
    progress(&format!("get of {label}"));
    let Shelves { tensors, count, all } = shelves;
    let mut timings = pool(1).install(|| {
        let contestants = all
            .iter_mut()
            .map(|(keeper, shelf)| Contestant::new(keeper.name, |draw: &mut Draw| draw.get(&mut **shelf)))
            .collect();
        race(pace.in_cache(), &mut Draw::new(tensors, *count), tensors.bytes(), contestants)
    });
    timings.extend(arrays.iter().filter(|a| a.shape == tensors.shape).map(|a| a.timing(&a.get)));
    Row::judged(label, timings)
}

fn rows(pace: Pace, shelves: &mut Shelves, arrays: &[Arrays]) -> Vec<Row> {
    let Shelves { tensors, count, all } = shelves;
    let mut rows = Vec::new();
    all.retain_mut(|(keeper, shelf)| keeper.check_rows(&mut **shelf, tensors));
    for part in PARTS {
        progress(&format!("get of {part} rows"));
        let bytes = part * tensors.shape[1] * size_of::<f32>();
        let read = |draw: &mut Draw, shelf: &mut dyn Shelf| {
            let (id, first) = (draw.below(draw.count), draw.below(tensors.shape[0] - part));
            shelf.rows(id as u128, first..first + part)
        };
        let mut timings = pool(1).install(|| {
            let contestants = all
                .iter_mut()
                .map(|(keeper, shelf)| Contestant::new(keeper.name, |draw: &mut Draw| read(draw, &mut **shelf)))
                .collect();
            race(pace.in_cache(), &mut Draw::new(tensors, *count), bytes, contestants)
        });
        let arrays = arrays.iter().filter(|a| a.shape == tensors.shape);
        timings.extend(arrays.filter_map(|a| Some(a.timing(a.rows.get(&part.to_string())?))));
        rows.push(Row::judged(part.to_string(), timings));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_relative_to_the_lower_bound_is_a_factor_of_1_3() {
        assert!((1.0 / NEAR_THE_FLOOR - 1.3_f64).abs() < 0.01);
    }
}
