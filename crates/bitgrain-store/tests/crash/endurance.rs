//! Readers, writers, ticks, compactions and backups at once, interrupted by power failures: `cargo xtask crash --soak`.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bitgrain_store::policy::PolicyConfig;
use bitgrain_store::storage::object::{ObjectFolder, RemoteConfig};
use bitgrain_store::storage::simulated::{
    Dice, ObjectFault, ObjectFaults, ObjectImage, PowerLoss, SimulatedDisk, SimulatedObjects,
};
use bitgrain_store::storage::{LocalFolder, Storage};
use bitgrain_store::{Clock, CompactOptions, StoreConfig, TensorStore};

use crate::latency::Latencies;
use crate::stamped::{Stamped, TENSORS, Trouble};

const WRITERS: usize = 3;
const READERS: usize = 2;

/// Storage under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A folder on a real disk; closed and reopened instead of crashed.
    Folder,
    /// A simulated disk that loses unsynced data.
    Disk,
    /// Simulated object storage that loses answers.
    Objects,
}

/// Results of a run.
#[derive(Default)]
struct Soak {
    rounds: usize,
    backups: Mutex<usize>,
    compactions: Mutex<usize>,
    /// Latencies of `get` and `put` without and during compaction.
    get: [Latencies; 2],
    put: [Latencies; 2],
    compacting: AtomicBool,
    /// Most bytes that simulated object storage held at a crash: memory of the simulation, not of the store.
    held: usize,
}

/// A clock on which an hour takes two seconds, so that ticks move tensors.
struct Fast;

impl Clock for Fast {
    fn now(&self) -> u64 {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(0).saturating_mul(1800)
    }
}

fn config() -> StoreConfig {
    let policy = PolicyConfig::adr019();
    StoreConfig { segment_bytes: 400_000, clock: Arc::new(Fast), policy, ..StoreConfig::default() }
}

impl Soak {
    /// Runs all threads on `store` until `over`; returns what was lost.
    fn round(&self, store: &TensorStore, stamped: &Stamped, over: &AtomicBool, seed: u64) -> Result<(), String> {
        let killed = AtomicBool::new(false);
        let lost = Mutex::new(None);
        // Errors are expected once the process was killed, and only then.
        let report = |trouble: Trouble| {
            let why = match trouble {
                Trouble::Lost(why) => why,
                Trouble::Error(_) if over.load(Relaxed) => return killed.store(true, Relaxed),
                Trouble::Error(error) => format!("an error without a reason: {error}"),
            };
            lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
            over.store(true, Relaxed);
        };
        let work = |work: &dyn Fn(&mut Dice) -> Result<(), Trouble>, part: u64| {
            let mut dice = Dice::part(seed, part);
            while !over.load(Relaxed) && !killed.load(Relaxed) {
                if let Err(trouble) = work(&mut dice) {
                    return report(trouble);
                }
            }
        };
        let (work, compacting) = (&work, &self.compacting);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let write = move |dice: &mut Dice| {
                    let tensor = writer * TENSORS + dice.below(TENSORS);
                    let (version, values) = stamped.start(tensor);
                    let (begun, during) = (Instant::now(), usize::from(compacting.load(Relaxed)));
                    let put = store.put(Stamped::id(tensor).as_str(), &[values.len()], &values);
                    put.map_err(Trouble::Error)?;
                    self.put[during].add(begun.elapsed());
                    stamped.acknowledge(tensor, version);
                    Ok(())
                };
                scope.spawn(move || work(&write, writer as u64));
            }
            for reader in 0..READERS {
                let read = move |dice: &mut Dice| {
                    let tensor = dice.below(stamped.len());
                    let least = stamped.acknowledged()[tensor];
                    let (begun, during) = (Instant::now(), usize::from(compacting.load(Relaxed)));
                    let found = store.get(Stamped::id(tensor).as_str());
                    self.get[during].add(begun.elapsed());
                    stamped.check(tensor, least, found).map(drop)
                };
                scope.spawn(move || work(&read, 10 + reader as u64));
            }
            let tick = |_: &mut Dice| {
                thread::sleep(Duration::from_millis(20));
                store.tick(Fast.now()).map(drop).map_err(Trouble::Error)
            };
            let compact = |dice: &mut Dice| {
                compacting.store(true, Relaxed);
                let done = store.compact(CompactOptions { all: dice.chance(20), ..CompactOptions::default() });
                compacting.store(false, Relaxed);
                *self.compactions.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                thread::sleep(Duration::from_millis(20));
                done.map(drop).map_err(Trouble::Error)
            };
            let backup = |_: &mut Dice| {
                let folder = tempfile::tempdir().expect("a folder");
                let least = stamped.acknowledged();
                store.backup(folder.path().join("b")).map_err(Trouble::Error)?;
                let copy = TensorStore::open_read_only(folder.path().join("b"));
                let copy = copy.map_err(|error| Trouble::Lost(format!("the backup does not open: {error}")))?;
                for (tensor, least) in least.into_iter().enumerate() {
                    let found = copy.get(Stamped::id(tensor).as_str());
                    stamped
                        .check(tensor, least, found)
                        .map_err(|trouble| Trouble::Lost(format!("backup: {trouble:?}")))?;
                }
                *self.backups.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                thread::sleep(Duration::from_millis(100));
                Ok(())
            };
            scope.spawn(move || work(&tick, 20));
            scope.spawn(move || work(&compact, 21));
            scope.spawn(move || work(&backup, 22));
        });
        lost.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Runs rounds of `length` until `end`, with a crash between them.
    fn run(&mut self, kind: Kind, folder: &Path, length: Duration, end: Instant, seed: u64) -> Result<(), String> {
        let stamped = Stamped::new(WRITERS);
        let (mut disk, mut objects) = (SimulatedDisk::default(), SimulatedObjects::unrecorded(ObjectImage::default()));
        while Instant::now() < end {
            let seed = seed + self.rounds as u64;
            let mut dice = Dice::part(seed, 40);
            let storage: Arc<dyn Storage> = match kind {
                Kind::Folder => Arc::new(LocalFolder::lock(folder, true).map_err(|error| error.to_string())?),
                Kind::Disk => Arc::new(disk.clone()),
                Kind::Objects => {
                    let remote =
                        RemoteConfig { delay: Duration::ZERO, grace: Duration::ZERO, ..RemoteConfig::default() };
                    let shared = Arc::new(objects.clone());
                    Arc::new(ObjectFolder::lock(shared, remote, true).map_err(|error| error.to_string())?)
                }
            };
            let least = stamped.acknowledged();
            let store = TensorStore::open_on(storage, config()).map_err(|error| format!("does not open: {error}"))?;
            stamped.settle(&store, &least).map_err(|trouble| format!("after a crash: {trouble:?}"))?;
            let over = AtomicBool::new(false);
            let next = thread::scope(|scope| {
                let round = scope.spawn(|| self.round(&store, &stamped, &over, seed));
                let until = Instant::now() + length;
                while Instant::now() < until && !over.load(Relaxed) {
                    thread::sleep(Duration::from_millis(10));
                    if kind == Kind::Objects && dice.chance(20) {
                        let fault = *dice.pick(&[ObjectFault::AnswerLost, ObjectFault::Failed, ObjectFault::Torn]);
                        objects.plan(ObjectFaults { fault, at: objects.requests(), count: 1 });
                    }
                }
                // Acknowledged before the crash: the least that must be found after it.
                let least = stamped.acknowledged();
                let crashed = match kind {
                    Kind::Folder => None,
                    Kind::Disk => {
                        let journal = disk.journal();
                        over.store(true, Relaxed);
                        let _dead = disk.kill();
                        let mut walk = journal.walk();
                        walk.forward_to(journal.len());
                        Some((SimulatedDisk::holding(&walk.power_cut(PowerLoss::any(&mut dice), &mut dice)), None))
                    }
                    Kind::Objects => {
                        over.store(true, Relaxed);
                        Some((disk.clone(), Some(objects.end())))
                    }
                };
                over.store(true, Relaxed);
                round.join().unwrap_or_else(|_| Err("a panic".into())).map(|()| (least, crashed))
            });
            let (least, crashed) = next?;
            match crashed {
                None => store.close().map_err(|error| format!("closing: {error}"))?,
                Some((next_disk, next_objects)) => {
                    drop(store);
                    disk = next_disk;
                    if let Some(image) = next_objects {
                        self.held = self.held.max(image.values().map(|bytes| bytes.len()).sum());
                        objects = SimulatedObjects::unrecorded(image);
                    }
                    stamped.forget_since(&least); // acknowledged after the moment of the crash
                }
            }
            self.rounds += 1;
        }
        Ok(())
    }

    fn print(&self, kind: Kind) {
        for (what, latencies) in [("get", &self.get), ("put", &self.put)] {
            println!("| {kind:?} | {what} | {} |", latencies[0].row());
            println!("| {kind:?} | {what} during compaction | {} |", latencies[1].row());
        }
    }
}

/// Returns the resident memory of this process in MiB; 0 if unknown.
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| (pages * 4096) >> 20)
}

/// Runs on every kind of storage for a third of `length`.
fn soak(length: Duration, round: Duration, seed: u64) {
    println!("| storage | operation | times | p50 µs | p99 µs | p99.9 µs |\n|---|---|---:|---:|---:|---:|");
    for kind in [Kind::Folder, Kind::Disk, Kind::Objects] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut soak, begun) = (Soak::default(), Instant::now());
        let third = begun + length / 9;
        let ran = soak.run(kind, folder.path(), round, third, seed);
        let early = resident();
        let ran = ran.and_then(|()| {
            let rest = tempfile::tempdir().expect("a folder");
            soak.run(kind, rest.path(), round, begun + length / 3, seed + 1000)
        });
        ran.unwrap_or_else(|why| panic!("{kind:?}, seed {seed}: {why}"));
        soak.print(kind);
        let (backups, compactions) = (soak.backups.lock().map_or(0, |n| *n), soak.compactions.lock().map_or(0, |n| *n));
        let (rounds, late) = (soak.rounds, resident());
        let held = soak.held >> 20;
        println!(
            "{kind:?}: {rounds} rounds, {compactions} compactions, {backups} backups, {early} MiB, then {late} MiB; the \
             simulated objects held up to {held} MiB"
        );
        assert!(late <= early * 2 + 100, "memory grows: {early} MiB, then {late} MiB");
        assert!(soak.put[1].count() > 0 && soak.get[1].count() > 0 && backups > 0, "too little happened");
    }
}

#[test]
fn everything_at_once_loses_no_acknowledged_write() {
    soak(Duration::from_secs(9), Duration::from_millis(700), 1);
}

#[test]
#[ignore = "takes as long as one likes: `cargo xtask crash --soak`"]
fn minutes_of_everything_at_once_lose_no_acknowledged_write() {
    let asked =
        |what: &str, otherwise: u64| std::env::var(what).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let seconds = asked("BITGRAIN_SOAK_SECONDS", 60);
    soak(Duration::from_secs(seconds), Duration::from_secs(2), asked("BITGRAIN_CRASH_SEED", 1));
}
