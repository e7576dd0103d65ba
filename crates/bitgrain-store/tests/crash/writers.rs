//! Several threads write at once and share fsyncs; then the power fails.
//!
//! The order of the threads does not depend on the seed: a failure names the loss, but may not be reproducible.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bitgrain_store::storage::simulated::{Dice, PowerLoss, SimulatedDisk};
use bitgrain_store::{CompactOptions, StoreConfig, StoreError, SyncMode, TensorStore};

use crate::execute::execute;
use crate::points::{Tally, quiet};
use crate::script::write;
use crate::view::View;
use crate::world::World;

/// Number of writing threads.
pub(crate) const WRITERS: usize = 3;
/// Number of writes per thread.
const WRITES: usize = 40;

/// Operations of each writer that are known to be applied.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    seed: u64,
    /// Contents after the known writes, for each writer.
    worlds: Vec<World>,
    /// Number of the next write of each writer.
    pub(crate) next: [usize; WRITERS],
}

impl Progress {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, worlds: vec![World::default(); WRITERS], next: [0; WRITERS] }
    }

    /// Records another acknowledged write of `writer`.
    pub(crate) fn acknowledge(&mut self, writer: usize) {
        self.worlds[writer] = self.more(writer);
        self.next[writer] += 1;
    }

    /// Compares the contents of each writer: all acknowledged writes, with or without the one in progress. If that one
    /// was applied, it is known from now on.
    ///
    /// # Errors
    /// Returns what was lost.
    pub(crate) fn settle(&mut self, view: &View) -> Result<(), String> {
        for writer in 0..WRITERS {
            let own = view.of_prefix(&format!("w{writer}/"));
            if own.find(&self.worlds[writer..=writer]).is_err() {
                let worlds = [self.worlds[writer].clone(), self.more(writer)];
                own.find(&worlds)
                    .map_err(|why| format!("writer {writer}, after write {}: {why}", self.next[writer]))?;
                self.acknowledge(writer);
            }
        }
        Ok(())
    }

    fn more(&self, writer: usize) -> World {
        self.worlds[writer].after(&write(self.seed, writer, self.next[writer]))
    }
}

/// Runs the writers of `seed` and cuts the power `cuts` times.
///
/// # Errors
/// Returns what was lost.
pub(crate) fn explore(seed: u64, cuts: usize, tally: &mut Tally) -> Result<(), String> {
    let config = StoreConfig { sync: SyncMode::Always, segment_bytes: 20_000, ..StoreConfig::default() };
    let disk = SimulatedDisk::default();
    // Slow syncs, so that writers wait together while others continue.
    disk.slow(Duration::from_micros(100 * (seed % 3)));
    let acknowledged = together(&disk, seed, &config).map_err(|why| format!("seed {seed}, several writers: {why}"))?;
    let journal = disk.journal();
    let mut dice = Dice::part(seed, 7);
    let mut places: Vec<usize> = (0..cuts).map(|_| dice.below(journal.len() + 1)).collect();
    places.sort_unstable();
    let mut walk = journal.walk();
    let mut progress = Progress::new(seed);
    for at in places {
        walk.forward_to(at);
        for (writer, acknowledged) in acknowledged.iter().enumerate() {
            while acknowledged.get(progress.next[writer]).is_some_and(|done| *done <= at) {
                progress.acknowledge(writer);
            }
        }
        let loss = PowerLoss::any(&mut dice);
        let image = walk.power_cut(loss, &mut dice);
        tally.count("power cut, several writers");
        quiet(|| {
            let store = TensorStore::open_on(Arc::new(SimulatedDisk::holding(&image)), config.clone())
                .map_err(|error| format!("the store does not open: {error}"))?;
            let view = View::of(&store).map_err(|error| format!("a read failed: {error}"))?;
            progress.clone().settle(&view)
        })
        .map_err(|why| format!("seed {seed}, several writers, after {at} operations, {loss:?}: {why}"))?;
    }
    Ok(())
}

/// Length of the journal at each acknowledgment, per writer.
fn together(disk: &SimulatedDisk, seed: u64, config: &StoreConfig) -> Result<Vec<Vec<usize>>, String> {
    let store = TensorStore::open_on(Arc::new(disk.clone()), config.clone()).map_err(|error| error.to_string())?;
    let (store, over) = (&store, &AtomicBool::new(false));
    let result = thread::scope(|scope| {
        let maintenance = scope.spawn(move || {
            let mut all = false;
            while !over.load(Ordering::Relaxed) {
                // Includes the write in progress, whose writer still waits for the disk.
                all = !all;
                store
                    .compact(CompactOptions { all, ..CompactOptions::default() })
                    .map_err(|error| error.to_string())?;
                thread::yield_now();
            }
            Ok(())
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let one = |number| match execute(store, &write(seed, writer, number), 1_000_000) {
                        Ok(()) | Err(StoreError::NotFound { .. }) => Ok(disk.done()),
                        Err(error) => Err(format!("write {number} of writer {writer}: {error}")),
                    };
                    (0..WRITES).map(one).collect::<Result<Vec<usize>, String>>()
                })
            })
            .collect();
        let done: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap_or(Err("a panic".into()))).collect();
        over.store(true, Ordering::Relaxed);
        maintenance.join().unwrap_or(Err("a panic".into())).and_then(|()| done.into_iter().collect())
    });
    // Writes during shutdown do not count.
    let _dead = disk.kill();
    result
}

#[test]
fn concurrent_writes_and_compaction_lose_no_acknowledged_write() {
    let mut tally = Tally::default();
    for seed in 0..6 {
        explore(seed, 50, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    }
    assert_eq!(tally.total(), 300);
}
