//! Object storage: the process ends after every request, requests fail, answers are lost, truncated or late.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bitgrain_store::policy::{AbsentRule, PolicyConfig};
use bitgrain_store::storage::object::{ObjectFolder, RemoteConfig};
use bitgrain_store::storage::simulated::{Dice, HookedObjects, ObjectFault, ObjectFaults, SimulatedObjects};
use bitgrain_store::{Clock, SimulatedClock, StoreConfig, StoreError, TensorStore};

use crate::execute::{brief, execute};
use crate::points::{Tally, quiet};
use crate::script::{Op, script};
use crate::session::is_refusal;
use crate::view::View;
use crate::world::World;

/// Operations of a script.
const SCRIPT: usize = 25;
/// Attempts of a request.
const ATTEMPTS: u32 = 4;

/// Objects without the guarantees of object storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgetful {
    /// Every third part of a file is not stored, although the put succeeds.
    Parts,
    /// Every fifth catalog is not stored, although the put succeeds.
    Catalogs,
}

/// Wraps objects so that they forget.
fn forgetting(objects: SimulatedObjects, what: Option<Forgetful>) -> HookedObjects {
    let puts = Arc::new(AtomicUsize::new(0));
    let is_forgotten = move |put: Forgetful, every: usize| {
        what == Some(put) && puts.fetch_add(1, Ordering::Relaxed) % every == every - 1
    };
    let is_new_forgotten = is_forgotten.clone();
    HookedObjects::new(objects)
        .with_put_new(
            move |objects, key, bytes| {
                if is_new_forgotten(Forgetful::Catalogs, 5) { Ok(()) } else { objects.put_new(key, bytes) }
            },
        )
        .with_put(
            move |objects, key, bytes| {
                if is_forgotten(Forgetful::Parts, 3) { Ok(()) } else { objects.put(key, bytes) }
            },
        )
}

/// A store in object storage, with its model.
struct Remote {
    objects: SimulatedObjects,
    store: Option<TensorStore>,
    clock: Arc<SimulatedClock>,
    segment_bytes: u64,
    world: World,
    forgetful: Option<Forgetful>,
    /// Operations: changes of the objects before and after each, and the contents before and after it.
    steps: Vec<(Range<usize>, World, World, String)>,
}

impl Remote {
    fn open(objects: SimulatedObjects, world: World, segment_bytes: u64, now: u64) -> Result<Self, String> {
        let clock = Arc::new(SimulatedClock::new(now));
        let steps = Vec::new();
        let mut remote = Self { objects, store: None, clock, segment_bytes, world, forgetful: None, steps };
        remote.start().map_err(|error| format!("the store does not open: {error}"))?;
        Ok(remote)
    }

    fn start(&mut self) -> Result<(), StoreError> {
        let remote = RemoteConfig {
            attempts: ATTEMPTS,
            delay: Duration::ZERO,
            grace: Duration::ZERO,
            cache_bytes: 300_000,
            ..RemoteConfig::default()
        };
        let policy = PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() };
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let config = StoreConfig { segment_bytes: self.segment_bytes, clock, policy, ..StoreConfig::default() };
        let objects = forgetting(self.objects.clone(), self.forgetful);
        let folder = ObjectFolder::lock(Arc::new(objects), remote, true)?;
        self.store = Some(TensorStore::open_on(Arc::new(folder), config)?);
        Ok(())
    }

    fn store(&self) -> &TensorStore {
        self.store.as_ref().expect("the store is open")
    }

    /// Runs `op`; an error of the store leaves it in doubt.
    fn run(&mut self, op: &Op) -> Result<(), StoreError> {
        let (from, before) = (self.objects.done(), self.world.clone());
        let result = match op {
            Op::Kill | Op::Reopen => self.restart(matches!(op, Op::Reopen)),
            _ => {
                if let Op::Tick { later } = op {
                    self.clock.set(self.clock.now() + *later);
                }
                execute(self.store(), op, self.clock.now())
            }
        };
        let result = match result {
            Err(error) if is_refusal(&error) => Ok(()),
            Ok(()) => {
                self.world = self.world.after(op);
                Ok(())
            }
            failed => failed,
        };
        let what = brief(op, result.as_ref().err());
        self.steps.push((from..self.objects.done(), before, self.world.clone(), what));
        result
    }

    fn restart(&mut self, orderly: bool) -> Result<(), StoreError> {
        if let Some(store) = self.store.take_if(|_| orderly) {
            store.close()?;
        }
        self.kill();
        self.start()
    }

    /// Ends the process without closing the store.
    fn kill(&mut self) {
        self.objects = self.objects.kill();
        self.store = None;
    }

    /// Compares the store with the possible contents, one of which becomes the only one.
    fn settle(&mut self, worlds: &[World]) -> Result<(), String> {
        let view = View::of(self.store()).map_err(|error| format!("a read failed: {error}"))?;
        self.world = view.find(worlds)?;
        Ok(())
    }
}

/// Runs the script of `seed` and ends the process after each change of the objects.
///
/// # Errors
/// Returns the first loss.
pub(crate) fn explore(seed: u64, forgetful: Option<Forgetful>, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 20);
    let segment_bytes = *dice.pick(&[2_000, 6_000, 40_000, 200_000]);
    let told = |why: String| format!("seed {seed}, objects, {segment_bytes} bytes per segment: {why}");
    let remote = quiet(|| {
        let objects = SimulatedObjects::default();
        let mut remote = Remote::open(objects, World::default(), segment_bytes, 1_000_000)?;
        if forgetful.is_some() {
            remote.forgetful = forgetful;
            remote.restart(true).map_err(|error| format!("reopening: {error}"))?;
        }
        for op in script(seed, SCRIPT) {
            remote.run(&op).map_err(|error| format!("{op:?}: {error}, without a reason"))?;
            let world = remote.world.clone();
            remote.settle(&[world]).map_err(|why| format!("{op:?}: {why}"))?;
        }
        Ok(remote)
    })
    .map_err(told)?;
    let now = remote.clock.now();
    for done in 0..=remote.objects.done() {
        // The operation in progress: it may have taken effect, except that a finished one must have.
        let step = remote.steps.iter().rfind(|(changes, ..)| changes.start < done);
        let worlds = step.map_or(vec![World::default()], |(changes, before, after, _)| {
            if done >= changes.end { vec![after.clone()] } else { vec![before.clone(), after.clone()] }
        });
        tally.count("object storage: process ended");
        let image = remote.objects.image(done);
        let again = quiet(|| {
            let objects = SimulatedObjects::holding(image);
            let mut again = Remote::open(objects, World::default(), segment_bytes, now)?;
            again.settle(&worlds)?;
            for op in script(dice.roll(), 2).iter().chain([&Op::Kill]) {
                again.run(op).map_err(|error| format!("{op:?}: {error}, without a reason"))?;
            }
            let world = again.world.clone();
            again.settle(&[world])
        });
        again.map_err(|why| told(format!("{why}; ended after change {done}, in {:?}", step.map(|step| &step.3))))?;
    }
    Ok(())
}

/// Runs the script of `seed` once for each request and kind of fault.
///
/// # Errors
/// Returns the first loss, or an error of the store that retries could have avoided.
pub(crate) fn faults(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 21);
    let segment_bytes = *dice.pick(&[2_000, 40_000]);
    let ops = script(seed, SCRIPT);
    let mut at = 0;
    loop {
        let late = 1 + dice.below(20);
        let fault = *dice.pick(&[
            ObjectFault::Failed,
            ObjectFault::AnswerLost,
            ObjectFault::Late(late),
            ObjectFault::Torn,
            ObjectFault::Killed,
        ]);
        let count = *dice.pick(&[1, ATTEMPTS as usize - 1, 40]);
        let plan = ObjectFaults { fault, at, count };
        let told = |why: String| format!("seed {seed}, objects, {segment_bytes} bytes per segment, {plan:?}: {why}");
        let objects = SimulatedObjects::default();
        objects.plan(plan);
        quiet(|| faulty(&objects, &ops, plan, segment_bytes)).map_err(told)?;
        if objects.hits() == 0 {
            return Ok(());
        }
        tally.count(match fault {
            ObjectFault::Failed => "object storage: failed requests",
            ObjectFault::AnswerLost => "object storage: lost answers",
            ObjectFault::Late(_) => "object storage: late puts",
            ObjectFault::Torn => "object storage: truncated answers",
            ObjectFault::Killed => "object storage: process killed",
        });
        at += 1 + dice.below(3);
    }
}

fn faulty(objects: &SimulatedObjects, ops: &[Op], plan: ObjectFaults, segment_bytes: u64) -> Result<(), String> {
    let mut world = World::default();
    let mut now = 1_000_000;
    let mut left = ops.iter();
    let mut objects = objects.clone();
    for round in 0..4 {
        let mut remote = match Remote::open(objects.clone(), world.clone(), segment_bytes, now) {
            Ok(remote) => remote,
            Err(_) if objects.hits() > 0 && round < 3 => {
                if round > 0 {
                    objects.heal();
                }
                objects = objects.kill();
                continue;
            }
            Err(why) => return Err(why),
        };
        remote.settle(&[world.clone()])?;
        let mut failed = None;
        for op in left.by_ref() {
            let before = remote.world.clone();
            if let Err(error) = remote.run(op) {
                // Few faults are hidden by retries, except that nothing hides the end of the process.
                let hidden = plan.count < ATTEMPTS as usize && plan.fault != ObjectFault::Killed;
                if hidden || objects.hits() == 0 {
                    return Err(format!("{op:?}: {error}, although retries should succeed"));
                }
                failed = Some([before.clone(), before.after(op)]);
                break;
            }
        }
        now = remote.clock.now();
        remote.kill();
        objects = remote.objects.clone();
        let Some(worlds) = failed else {
            world = remote.world;
            break;
        };
        // The objects may still be failing, and late puts may still arrive.
        if round >= 1 {
            objects.heal();
        }
        let Ok(mut again) = Remote::open(objects.clone(), World::default(), segment_bytes, now) else {
            objects.heal();
            objects = objects.kill();
            let mut again = Remote::open(objects.clone(), World::default(), segment_bytes, now)?;
            again.settle(&worlds)?;
            again.kill();
            (objects, world) = (again.objects, again.world);
            continue;
        };
        if let Err(why) = again.settle(&worlds) {
            if !why.contains("a read failed") || objects.hits() == 0 {
                return Err(why);
            }
            objects.heal();
            again.settle(&worlds)?;
        }
        again.kill();
        (objects, world) = (again.objects, again.world);
    }
    objects.heal();
    let mut last = Remote::open(objects, World::default(), segment_bytes, now)?;
    last.settle(&[world])
}

#[test]
fn the_end_of_a_process_loses_no_acknowledged_write_in_object_storage() {
    let mut tally = Tally::default();
    for seed in 0..12 {
        explore(seed, None, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    }
    println!("{tally:?}");
    assert!(tally.total() > 500, "{tally:?}");
}

#[test]
fn faults_of_object_storage_lose_no_acknowledged_write() {
    let mut tally = Tally::default();
    for seed in 0..12 {
        faults(seed, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    }
    println!("{tally:?}");
    assert!(tally.0.len() == 5 && tally.total() > 200, "{tally:?}");
}

#[test]
fn objects_that_are_acknowledged_but_not_stored_are_detected() {
    for forgetful in [Forgetful::Parts, Forgetful::Catalogs] {
        let mut tally = Tally::default();
        let found = (0..20).find_map(|seed| explore(seed, Some(forgetful), &mut tally).err());
        let why = found.unwrap_or_else(|| panic!("{forgetful:?} was not found in {} crashes", tally.total()));
        println!("{forgetful:?}: {}", why.lines().next().unwrap_or_default());
    }
}
