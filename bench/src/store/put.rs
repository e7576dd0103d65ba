//! Writes of tensors: one per commit, or many.

use std::fs;
use std::time::Instant;

use super::arrays::Arrays;
use super::keeper::{FLOOR_OF_PUT, Keeper, OURS, SEED, empty, fill, keepers};
use super::tensors::{Tensors, thousands};
use super::{LARGE, SMALL, pool, progress};
use crate::data::{self, Random};
use crate::measure::{Pace, Timing};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::store::Plan;
use crate::scratch::Scratch;

/// A row: shape, synced or not, and tensors per commit.
struct Case {
    shape: [usize; 2],
    synced: bool,
    batch: usize,
    /// Number of tensors per sample.
    count: usize,
}

/// Measures every size and kind of commit.
pub(super) fn table(pace: Pace, scratch: &Scratch, arrays: &[Arrays]) -> Table {
    let (small, large) = if pace == Pace::Full { (2000, 8) } else { (200, 2) };
    let case = |shape, synced, batch, count| Case { shape, synced, batch, count };
    let cases = [
        case(SMALL, false, 1, small),
        case(SMALL, true, 1, small),
        case(SMALL, true, 100, small),
        case(LARGE, false, 1, large),
        case(LARGE, true, 1, large),
    ];
    let rows = cases.iter().map(|case| row(pace, scratch, case, arrays)).collect();
    let note = format!(
        "Writes of one tensor to a store that is empty at the beginning of each sample ({} tensors of 1,000 floats, \
         {large} of 1,000,000). *Synced* calls fsync in every commit, which costs only a system call because files \
         are in memory. `{FLOOR_OF_PUT}` encodes the same blocks and writes them to one file; ours also decodes them \
         to measure the error, computes checksums and maintains an index. `{SEED}` keeps tensors in memory only. \
         redb and LMDB store raw f32 and commit a transaction; safetensors writes a file for each tensor and cannot \
         commit several at once. \
         tensorstore and zarr run in Python, with an uncompressed array for each tensor.",
        thousands(small)
    );
    Table {
        title: "Put",
        note,
        unit: Unit::Microseconds,
        axis: "tensor",
        figures: vec![
            Figure::ratio(OURS, SEED).at_least(10.0),
            Figure::ratio(OURS, FLOOR_OF_PUT),
            Figure::ratio(OURS, "redb"),
            Figure::ratio(OURS, "LMDB"),
        ],
        rows,
    }
}

fn row(pace: Pace, scratch: &Scratch, case: &Case, arrays: &[Arrays]) -> Row {
    let tensors = Tensors::new(case.shape);
    let mut label = tensors.label();
    if case.batch > 1 {
        label += &format!(", {} to a commit", case.batch);
    }
    if case.synced {
        label += ", synced";
    }
    progress(&format!("put of {label}"));
    // Storage in memory cannot be synced.
    let contestants: Vec<Keeper> = keepers(FLOOR_OF_PUT).into_iter().filter(|k| k.durable || !case.synced).collect();
    let mut timings = pool(1).install(|| race(pace, scratch, case, &tensors, &contestants));
    if !case.synced {
        timings.extend(arrays.iter().filter(|a| a.shape == case.shape).map(|a| a.timing(&a.put)));
    }
    Row::judged(label, timings)
}

/// Like `measure::race`, but every sample fills a new store, and only the puts are timed.
fn race(pace: Pace, scratch: &Scratch, case: &Case, tensors: &Tensors, contestants: &[Keeper]) -> Vec<Timing> {
    let rounds = if pace == Pace::Full { 9 } else { 3 };
    let mut samples = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut random = Random::new(data::SEED);
    // The first round is a warm-up, and its data is checked.
    for round in 0..=rounds {
        order.sort_by_cached_key(|_| random.next());
        for &at in &order {
            let folder = scratch.file("put");
            let plan = Plan { folder: empty(&folder), shape: case.shape, synced: case.synced };
            let mut shelf = contestants[at].open(&plan);
            let start = Instant::now();
            fill(&mut *shelf, tensors, case.count, case.batch);
            let seconds = start.elapsed().as_secs_f64() / case.count as f64;
            if round == 0 {
                contestants[at].check(&mut *shelf, tensors, case.count);
            } else {
                samples[at].push(seconds);
            }
            drop(shelf);
            fs::remove_dir_all(&folder).expect("the temporary folder");
        }
    }
    contestants.iter().zip(samples).map(|(c, seconds)| Timing::new(c.name, tensors.bytes(), seconds)).collect()
}
