//! Group commit: concurrent writers share one sync.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use super::keeper::{FLOOR_OF_PUT, Keeper, OURS, SEED, empty, keepers};
use super::ours::Ours;
use super::tensors::{Tensors, thousands};
use super::{SMALL, progress};
use crate::measure::{Pace, Timing};
use crate::report::{Figure, Row, Table, Unit};
use crate::rival::store::{Plan, Shelf};

/// Numbers of concurrent writers.
const WRITERS: [usize; 3] = [1, 4, 16];

/// Measures increasing numbers of writers, on the disk of `folder`.
pub(super) fn table(pace: Pace, folder: &Path) -> Table {
    let (puts, rounds) = if pace == Pace::Full { (256, 5) } else { (32, 1) };
    let tensors = Tensors::new(SMALL);
    let folder = folder.join(format!("store-{}", std::process::id()));
    let rivals =
        keepers(FLOOR_OF_PUT).into_iter().filter(|k| ![OURS, SEED, FLOOR_OF_PUT, "safetensors"].contains(&k.name));
    let rivals: Vec<Keeper> = rivals.collect();
    let mut rows = Vec::new();
    for writers in WRITERS {
        progress(&format!("group commit of {writers}"));
        let mut timings = vec![timing(OURS, rounds, &tensors, puts, || ours(&folder, &tensors, writers, puts))];
        for rival in &rivals {
            timings
                .push(timing(rival.name, rounds, &tensors, puts, || locked(rival, &folder, &tensors, writers, puts)));
        }
        rows.push(Row::judged(writers.to_string(), timings));
    }
    let _ = fs::remove_dir_all(&folder);
    let note = format!(
        "On disk, in cargo's target folder. {} tensors of 1,000 floats, each in its own synced commit, divided among \
         the writers; the time is the total divided by the number of puts. redb and LMDB admit one writer at a time.",
        thousands(puts)
    );
    let figures = vec![Figure::ratio(OURS, "redb"), Figure::ratio(OURS, "LMDB")];
    Table { title: "Group commit", note, unit: Unit::Microseconds, axis: "writers", figures, rows }
}

/// Takes samples of `run`, which returns the seconds of all puts.
fn timing(name: &'static str, rounds: usize, tensors: &Tensors, puts: usize, run: impl Fn() -> f64) -> Timing {
    Timing::new(name, tensors.bytes(), (0..rounds).map(|_| run() / puts as f64).collect())
}

/// Puts from several threads to one store.
fn ours(folder: &Path, tensors: &Tensors, writers: usize, puts: usize) -> f64 {
    let ours = Ours::new(&Plan { folder: empty(folder), shape: SMALL, synced: true });
    let put = |id: usize| {
        ours.store.put(id as u128, &tensors.shape, tensors.of(id)).expect("the store puts");
    };
    let seconds = shared(writers, puts, &put);
    assert_eq!(ours.store.len(), puts, "every put is there");
    seconds
}

/// Puts from several threads to another library's storage, behind a lock.
fn locked(rival: &Keeper, folder: &Path, tensors: &Tensors, writers: usize, puts: usize) -> f64 {
    let shelf: Mutex<Box<dyn Shelf>> =
        Mutex::new(rival.open(&Plan { folder: empty(folder), shape: SMALL, synced: true }));
    let put = |id: usize| shelf.lock().expect("no writer panics").put(id as u128, tensors.of(id));
    let seconds = shared(writers, puts, &put);
    rival.check(&mut **shelf.lock().expect("no writer panics"), tensors, puts);
    seconds
}

fn shared(writers: usize, puts: usize, put: &(dyn Fn(usize) + Sync)) -> f64 {
    let start = Instant::now();
    thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || (writer..puts).step_by(writers).for_each(put));
        }
    });
    start.elapsed().as_secs_f64()
}
