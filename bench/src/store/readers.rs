//! Concurrent reads: the same reads, divided among threads.

use std::thread;

use rayon::ThreadPool;

use super::keeper::{FLOOR_OF_GET, OURS, filled, keepers};
use super::tensors::Tensors;
use super::{LARGE, SMALL, pool, progress};
use crate::buffer::Buffer;
use crate::data::{Random, SEED};
use crate::measure::{Contestant, Pace, race};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::store::Reads;
use crate::scratch::Scratch;

const ONE: &str = "1 thread";
const TWO: &str = "2 threads";

/// Measures each contender that supports concurrent reads, for both sizes.
pub(super) fn table(pace: Pace, scratch: &Scratch) -> Table {
    // Number of tensors and of reads per sample, for both sizes.
    let (small, large) = if pace == Pace::Full { ([10_000, 20_000], [16, 32]) } else { ([1000, 2000], [4, 4]) };
    let mut rows = Vec::new();
    for (shape, [count, gets]) in [(SMALL, small), (LARGE, large)] {
        let tensors = Tensors::new(shape);
        for keeper in keepers(FLOOR_OF_GET).into_iter().filter(|keeper| keeper.durable) {
            let label = format!("{}, {}", keeper.name, tensors.label());
            progress(&format!("readers: {label}"));
            let mut shelf = filled(&keeper, &scratch.file("readers"), &tensors, count);
            keeper.check(&mut *shelf, &tensors, count);
            let Some(shared) = shelf.shared() else { continue };
            let timings = scale(pace, shared, &tensors, count, gets);
            rows.push(Row { label, judged: keeper.name == OURS, timings });
        }
    }
    let note = format!(
        "Reads of random tensors, on one thread or divided between two. Each tensor is verified and decoded by one \
         thread. `{FLOOR_OF_GET}` shows the limit of the machine: two hardware threads of one core do not double the \
         throughput."
    );
    let figures = vec![Figure::ratio(TWO, ONE).at_least(1.6)];
    Table { title: "Readers", note, unit: Unit::GbPerS("f32 read"), axis: "store and tensor", figures, rows }
}

fn scale(pace: Pace, shelf: &dyn Reads, tensors: &Tensors, count: usize, gets: usize) -> Vec<crate::measure::Timing> {
    let pools = [pool(1), pool(1)];
    let mut buffers = [Buffer::new(tensors.len()), Buffer::new(tensors.len())];
    let on = |readers: usize| {
        let pools = &pools;
        move |buffers: &mut [Buffer<f32>; 2]| read_all(shelf, &pools[..readers], buffers, count, gets / readers)
    };
    let contestants = vec![Contestant::new(ONE, on(1)), Contestant::new(TWO, on(2))];
    race(pace.seconds_a_call(), &mut buffers, gets * tensors.bytes(), contestants)
}

/// Every reader is a thread with its own pool, so that large tensors are decoded on that thread.
fn read_all(shelf: &dyn Reads, pools: &[ThreadPool], buffers: &mut [Buffer<f32>], count: usize, gets: usize) {
    thread::scope(|scope| {
        for (i, (pool, out)) in pools.iter().zip(buffers).enumerate() {
            let read = move || {
                let mut random = Random::new(SEED + i as u64);
                (0..gets).for_each(|_| shelf.read(u128::from(random.next() % count as u64), out));
            };
            scope.spawn(move || pool.install(read));
        }
    });
}
