//! Every disk operation fails once, or permanently: the store returns an error and loses no data.

use std::sync::Arc;

use bitgrain_store::storage::simulated::{Counted, Dice, Fault, FaultPlan, Image, PowerLoss, SimulatedDisk};
use bitgrain_store::{StoreConfig, StoreError, SyncMode, TensorStore};

use crate::points::{Tally, quiet};
use crate::script::{Op, script};
use crate::session::{Session, Settings};
use crate::world::World;

/// Operations of a script.
const SCRIPT: usize = 25;
/// Number of writes attempted after the fault.
const STUBBORN: usize = 6;

/// Runs the script of `seed` once for each disk change and each kind of failure.
///
/// # Errors
/// Returns the first loss and the command that reproduces it.
pub(crate) fn explore(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 4);
    let settings = Settings { sync: SyncMode::Always, segment_bytes: *dice.pick(&[2_000, 6_000]), mutant: None };
    let ops: Vec<Op> = script(seed, SCRIPT);
    let whole = quiet(|| run(&ops, settings, None, &mut dice.clone())).map_err(|why| format!("seed {seed}: {why}"))?;
    for at in 0..whole {
        let fault = *dice.pick(&[Fault::Device, Fault::NoSpace]);
        let plan = FaultPlan { fault, counted: Counted::Changes, at, lasting: dice.chance(30) };
        tally.count(if fault == Fault::Device { "device error" } else { "full disk" });
        quiet(|| run(&ops, settings, Some(plan), &mut dice.clone()))
            .map_err(|why| format!("seed {seed}: {why} ({plan:?}, {settings:?})"))?;
    }
    Ok(())
}

/// Runs `ops` with a fault, then crashes. Returns the number of disk changes.
fn run(ops: &[Op], settings: Settings, plan: Option<FaultPlan>, dice: &mut Dice) -> Result<usize, String> {
    let disk = SimulatedDisk::default();
    if let Some(plan) = plan {
        disk.plan(plan);
    }
    let empty: Arc<[World]> = [World::default()].into();
    let mut session = match Session::open(disk.clone(), settings, Arc::clone(&empty), 1_000_000) {
        Ok(session) => session,
        Err(_) if disk.hits() > 0 => {
            // The fault hit the creation of the store: the next attempt must succeed.
            let image = lost(&disk, dice);
            Session::open(SimulatedDisk::holding(&image), settings, empty, 1_000_000)?;
            return Ok(disk.operations(Counted::Changes));
        }
        Err(why) => return Err(why),
    };
    let (mut failed, mut closed) = (0, false);
    for op in ops {
        let hits = disk.hits();
        match session.run(op)? {
            Ok(()) => {}
            Err(StoreError::Poisoned) if failed > 0 => failed += 1,
            // Deferred work may report the earlier fault.
            Err(_) if disk.hits() > hits || (failed > 0 && plan.is_some_and(|plan| plan.lasting)) => failed += 1,
            Err(error) => return Err(format!("{op:?}: {error}, without a reason")),
        }
        // After a failed reopening, no store is left to continue with.
        closed = !session.is_open();
        if closed || failed > STUBBORN {
            break;
        }
    }
    disk.heal();
    if !closed {
        session.readable()?;
    }
    let worlds = Arc::clone(session.worlds());
    let (disk, now) = (session.disk.clone(), session.now());
    let changes = disk.operations(Counted::Changes);
    let image = if dice.chance(30) { disk.image() } else { lost(&disk, dice) };
    drop(session.into_steps());
    let mut session = Session::open(SimulatedDisk::holding(&image), settings, worlds, now)
        .map_err(|why| format!("after the fault: {why}"))?;
    session.run_all(&script(dice.roll(), 3))?;
    Ok(changes)
}

/// Returns the content of the disk after a power failure now.
fn lost(disk: &SimulatedDisk, dice: &mut Dice) -> Image {
    let journal = disk.journal();
    let mut walk = journal.walk();
    walk.forward_to(journal.len());
    walk.power_cut(PowerLoss::any(dice), dice)
}

/// Runs and closes the script of `seed`, then opens and reads the store with each disk read failing once.
///
/// # Errors
/// Returns the first error that destroyed data.
pub(crate) fn reads(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 5);
    let settings = Settings { sync: SyncMode::Always, segment_bytes: *dice.pick(&[2_000, 6_000]), mutant: None };
    let told = |why: String| format!("seed {seed}: {why} ({settings:?})");
    let (image, worlds, now) = quiet(|| {
        let mut session = Session::open(SimulatedDisk::default(), settings, [World::default()].into(), 1_000_000)?;
        session.run_all(&script(seed, SCRIPT))?;
        Ok((session.disk.image(), Arc::clone(session.worlds()), session.now()))
    })
    .map_err(told)?;
    let mut at = 0;
    loop {
        let disk = SimulatedDisk::holding(&image);
        disk.plan(FaultPlan { fault: Fault::Device, counted: Counted::Reads, at, lasting: dice.chance(30) });
        // Any error is acceptable: a failed read returns no data.
        let refused = quiet(|| Session::open(disk.clone(), settings, Arc::clone(&worlds), now).map(drop));
        if disk.hits() == 0 {
            return refused.map_err(told);
        }
        if let Err(why) = &refused
            && (why.contains("panic") || why.contains("lost"))
        {
            return Err(told(format!("read {at} failed: {why}")));
        }
        disk.heal();
        tally.count("read error");
        let image = disk.image();
        quiet(|| Session::open(SimulatedDisk::holding(&image), settings, Arc::clone(&worlds), now).map(drop))
            .map_err(|why| told(format!("after read {at} had failed: {why}")))?;
        at += 1;
    }
}

#[test]
fn a_write_fails_on_a_full_disk_and_succeeds_once_space_is_free() {
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), StoreConfig::default()).expect("opens");
    store.put("before", &[3], &[1.0, 2.0, 3.0]).expect("there is room");
    let at = disk.operations(Counted::Changes);
    disk.plan(FaultPlan { fault: Fault::NoSpace, counted: Counted::Changes, at, lasting: true });
    for _ in 0..3 {
        let refused = store.put("after", &[2], &[4.0, 5.0]);
        assert!(matches!(refused, Err(StoreError::NoSpace { .. })), "{refused:?}");
        assert!(!store.contains("after"));
        assert_eq!(store.get("before").expect("reads succeed").shape, [3]);
    }
    disk.heal();
    store.put("after", &[2], &[4.0, 5.0]).expect("there is room again");
    let store = TensorStore::open_on(Arc::new(disk.kill()), StoreConfig::default()).expect("opens");
    assert_eq!(store.get("after").expect("was acknowledged").shape, [2]);
    assert_eq!(store.len(), 2);
}

#[test]
fn a_failed_sync_stops_writes_but_not_reads_until_reopening() {
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), StoreConfig::default()).expect("opens");
    store.put("before", &[1], &[1.0]).expect("the disk is well");
    // The write is the next change; its sync is the one after.
    let at = disk.operations(Counted::Changes) + 1;
    disk.plan(FaultPlan { fault: Fault::Device, counted: Counted::Changes, at, lasting: false });
    store.put("in doubt", &[1], &[2.0]).expect_err("the sync failed");
    let refused = store.put("after", &[1], &[3.0]);
    assert!(matches!(refused, Err(StoreError::Poisoned)), "{refused:?}");
    store.get("before").expect("reads succeed");
    let next = disk.kill();
    let store = TensorStore::open_on(Arc::new(next.clone()), StoreConfig::default()).expect("opens");
    store.put("after", &[1], &[3.0]).expect("written after opening");
    // Data left uncertain by the failed sync must not be truncated together with later data.
    for seed in 0..200 {
        let image = lost(&next, &mut Dice::new(seed));
        let disk = SimulatedDisk::holding(&image);
        let store = TensorStore::open_on(Arc::new(disk), StoreConfig::default()).expect("opens after a power cut");
        assert!(store.contains("before") && store.contains("after"), "seed {seed}");
    }
}
