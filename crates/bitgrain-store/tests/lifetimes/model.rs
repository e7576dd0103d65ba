//! Random sequences of user-level operations, compared with a model.
//!
//! `BITGRAIN_MODEL_SEQUENCES` sets the number of sequences, `BITGRAIN_MODEL_SEED` the first seed. A failure names
//! the seed of its sequence.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use bitgrain_store::policy::{PolicyConfig, Preset};
use bitgrain_store::reconstruct::{DeltaValues, Factor, Reconstruction};
use bitgrain_store::storage::simulated::{Dice, SimulatedDisk};
use bitgrain_store::{
    CompactOptions, Dependents, FrameProvenance, Provenance, PutOptions, SimulatedClock, StoreConfig, StoreError,
    TensorStore, Tier,
};

use super::operation::{DERIVED, DERIVED_FRAMES, Operation};
use super::world::{Known, SHAPE, Since, World, check, lasting, within};
use super::{MONDAY, values, with_clock};

const COUNT: usize = SHAPE[0] * SHAPE[1];
const OPERATIONS: usize = 60;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
fn any_sequence_of_operations_keeps_values_pins_limits_and_tiers() {
    let (first, count) = (number("BITGRAIN_MODEL_SEED", 1), number("BITGRAIN_MODEL_SEQUENCES", 300));
    for seed in first..first + count {
        let mut done = Vec::new();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(seed, &mut done))) {
            eprintln!("BITGRAIN_MODEL_SEED={seed} after {} operations:", done.len());
            done.iter().for_each(|operation| eprintln!("  {operation:?}"));
            resume_unwind(panic);
        }
    }
}

fn run(seed: u64, done: &mut Vec<Operation>) {
    let mut dice = Dice::new(seed);
    let (clock, config) = with_clock();
    // A cap that some sequences reach, and segments that some sequences fill.
    let first_tier = *dice.pick(&[Tier::Hot, Tier::Hot, Tier::WarmAggressive]);
    let preset = *dice.pick(&[Preset::Careful, Preset::Adr019, Preset::Adr019, Preset::Budget(3000)]);
    let warm_byte_cap = *dice.pick(&[300, 1000, 64 << 20]);
    let policy = PolicyConfig { first_tier, warm_byte_cap, ..preset.config() };
    let config = StoreConfig { policy, segment_bytes: *dice.pick(&[2000, 64 << 20]), ..config };
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), config.clone()).expect("opens");
    let mut session = Session { clock, config, disk, store: Some(store), world: World::new(), now: MONDAY };
    for _ in 0..OPERATIONS {
        let operation = Operation::roll(&mut dice);
        done.push(operation.clone());
        let since = session.execute(&operation);
        let store = session.store.as_ref().expect("open");
        check(store, &mut session.world, since);
    }
}

/// A store and its model.
struct Session {
    clock: Arc<SimulatedClock>,
    config: StoreConfig,
    disk: SimulatedDisk,
    store: Option<TensorStore>,
    world: World,
    now: u64,
}

impl Session {
    fn store(&self) -> &TensorStore {
        self.store.as_ref().expect("open")
    }

    fn execute(&mut self, operation: &Operation) -> Since {
        match *operation {
            Operation::Put { id, seed, tier, pin, max_error, batch } => {
                let options = PutOptions { tier, pin, max_error, ..PutOptions::default() };
                self.put(id, seed, &options, batch);
            }
            Operation::Append { id, seed, batch } => self.append(id, seed, batch),
            Operation::Get(id) => match (self.store().get(id), self.world.get(id)) {
                (Ok(tensor), Some(known)) => {
                    within(id, known.originals.last().expect("one"), &tensor.values, &tensor.provenance);
                }
                (Err(StoreError::NotFound { .. }), None) => {}
                other => panic!("{id}: {other:?}"),
            },
            Operation::GetRows(id) => match (self.store().get_rows(id, 1..3), self.world.get(id)) {
                (Ok(rows), Some(known)) => {
                    let original = &known.originals.last().expect("one")[SHAPE[1]..3 * SHAPE[1]];
                    within(id, original, &rows.values, &rows.provenance);
                }
                (Err(StoreError::NotFound { .. }), None) => {}
                other => panic!("{id}: {other:?}"),
            },
            Operation::Pin(id, tier) => {
                let pinned = self.store().pin(id, tier);
                let Some(known) = self.world.get_mut(id) else { return self.missing(pinned) };
                pinned.expect("pinned");
                known.pin = tier;
            }
            Operation::Limit(id, max_error) => {
                let limited = self.store().set_max_error(id, max_error);
                let Some(known) = self.world.get_mut(id) else { return self.missing(limited) };
                match limited {
                    Ok(()) => known.max_error = max_error, // that it is kept is checked below
                    Err(StoreError::BoundExceeded { wanted, got, .. }) => assert!(got > wanted),
                    other => panic!("{id}: {other:?}"),
                }
            }
            Operation::Note(id) => {
                let noted = self.store().set_user(id, &[("at".into(), self.now.to_string())]);
                if !self.world.contains_key(id) {
                    return self.missing(noted);
                }
                noted.expect("noted");
            }
            Operation::Delete(id) => {
                let deleted = self.store().delete(id, Dependents::Refuse).map(drop);
                if self.world.remove(id).is_none() {
                    return self.missing(deleted);
                }
                deleted.expect("nothing is made of it");
            }
            Operation::Derive(seed) => self.derive(seed),
            Operation::DeriveFrames(seed) => self.derive_frames(seed),
            Operation::Tick { after } => {
                self.now += after;
                self.clock.set(self.now);
                let planned = self.store().plan(self.now).expect("plans");
                let report = self.store().tick(self.now).expect("ticks");
                assert!(report.skipped > 0 || planned.moves == report.moves, "{planned:?} and {report:?}");
                return Since::Tick;
            }
            Operation::Reopen { close } => self.reopen(close),
            Operation::Compact { all } => {
                self.store().compact(CompactOptions { all, ..CompactOptions::default() }).expect("compacts");
            }
        }
        Since::Other
    }

    /// Runs an operation on a tensor that does not exist.
    fn missing(&self, result: Result<(), StoreError>) -> Since {
        assert!(matches!(result, Err(StoreError::NotFound { .. })), "{result:?}");
        Since::Other
    }

    fn put(&mut self, id: &'static str, seed: u64, options: &PutOptions, batch: bool) {
        let (store, originals) = (self.store(), values(seed, COUNT));
        let seen = store.meta(id).ok().filter(|meta| meta.pinned.is_none()).map(|meta| meta.wanted);
        let result: Result<Provenance, StoreError> = if batch {
            let mut batch = store.batch();
            let put = batch.put_with(id, &SHAPE, &originals, options);
            put.and_then(|cost| batch.commit().map(|()| cost))
        } else {
            store.put_with(id, &SHAPE, &originals, options)
        };
        let before = self.world.get(id).cloned().unwrap_or_default();
        let mut known = Known { originals: vec![originals], ..Known::default() };
        known.pin = options.pin.or(before.pin);
        known.max_error = options.max_error.or(before.max_error);
        let first = self.config.policy.first_tier;
        let wanted = match (options.tier, known.floor()) {
            (Some(tier), Some(floor)) => tier.min(floor),
            (Some(tier), None) | (None, Some(tier)) => tier,
            // The tier wanted by the last tick can only add bits.
            (None, None) => seen.map_or(first, |seen| first.min(seen)),
        };
        match (result, known.max_error) {
            // The model does not track accesses under a pin.
            (Ok(cost), None) if before.pin.is_some() && options.tier.is_none() => assert!(cost.tier <= wanted, "{id}"),
            (Ok(cost), None) => assert_eq!(cost.tier, wanted, "{id}: {options:?}"),
            (Ok(cost), Some(limit)) => assert!(cost.tier <= wanted && cost.bound <= limit, "{id}: {cost:?}"),
            (Err(StoreError::BoundExceeded { wanted, got, .. }), Some(_)) => {
                assert!(got > wanted);
                return;
            }
            other => panic!("{id}: {other:?}"),
        }
        self.world.insert(id, known);
    }

    fn append(&mut self, id: &'static str, seed: u64, batch: bool) {
        let (store, frame) = (self.store(), values(seed, COUNT));
        let count = self.world.get(id).map_or(0, |known| known.originals.len() as u64);
        let seen = store.meta(id).map(|meta| meta.wanted.max(Tier::Hot)).ok();
        let result = if batch {
            let mut batch = store.batch();
            batch.append(id, &SHAPE, &frame, self.now);
            batch.commit().and_then(|()| Ok(store.frames(id, count..count + 1)?[0].provenance))
        } else {
            store.append(id, &SHAPE, &frame, self.now).map(|FrameProvenance { provenance, .. }| provenance)
        };
        let known = self.world.entry(id).or_insert_with(|| Known { temporal: true, ..Known::default() });
        // The tier wanted by the last tick can only add bits, up to 8.
        let first = self.config.policy.first_tier;
        let wanted = known.floor().unwrap_or_else(|| seen.map_or(first, |seen| first.min(seen)));
        match (result, known.max_error) {
            (Err(StoreError::NotTemporal { .. }), _) if !known.temporal => return,
            (Ok(cost), None) if known.temporal => assert_eq!(cost.tier, wanted, "{id}"),
            (Ok(cost), Some(limit)) if known.temporal => {
                assert!(cost.tier <= wanted && cost.bound <= limit, "{id}: {cost:?}");
            }
            (Err(StoreError::BoundExceeded { .. }), Some(_)) if known.temporal => return,
            other => panic!("{id}: {other:?}"),
        }
        let appended = self.store().frames(id, count..count + 1).expect("appended")[0].provenance.tier;
        let known = self.world.get_mut(id).expect("put in above");
        known.originals.push(frame);
        known.frame_tiers.push(appended);
        known.tier = known.frame_tiers.iter().copied().max();
    }

    fn derive(&mut self, seed: u64) {
        let [derived, base] = DERIVED;
        let store = self.store();
        for id in DERIVED {
            if self.world.contains_key(id) {
                store.delete(id, Dependents::Refuse).expect("the derived one is deleted first");
            }
        }
        let originals = [values(seed + 1, COUNT), values(seed, COUNT)];
        for (id, original) in DERIVED.iter().zip(&originals) {
            store.put(*id, &SHAPE, original).expect("put");
        }
        let delta = DeltaValues::Wanted(originals[0].clone());
        store.attach(derived, Some(&Reconstruction::Delta { base: base.into(), values: delta })).expect("attached");
        for (id, original) in DERIVED.into_iter().zip(originals) {
            let known = Known { originals: vec![original], reconstructable: id == derived, ..Known::default() };
            self.world.insert(id, known);
        }
    }

    fn derive_frames(&mut self, seed: u64) {
        let [derived, base] = DERIVED_FRAMES;
        for id in DERIVED_FRAMES {
            if self.world.remove(id).is_some() {
                self.store().delete(id, Dependents::Refuse).expect("the derived one is deleted first");
            }
        }
        for (id, scale, frames) in [(base, 1.0, 4), (derived, 2.0, 5)] {
            let mut known = Known { temporal: true, reconstructable: id == derived, ..Known::default() };
            for frame in 0..frames {
                // Exactly twice the base, so that the reconstruction meets its bound.
                let original: Vec<f32> = values(seed + frame / 2, COUNT).iter().map(|value| scale * value).collect();
                let cost = self.store().append(id, &SHAPE, &original, frame).expect("appended");
                known.originals.push(original);
                known.frame_tiers.push(cost.provenance.tier);
            }
            self.world.insert(id, known);
        }
        let factor = Factor { scale: 2.0, ..Factor::default() };
        let policy = Reconstruction::Factor { source: base.into(), factor };
        self.store().attach(derived, Some(&policy)).expect("attached");
    }

    fn reopen(&mut self, close: bool) {
        let store = self.store.take().expect("open");
        let before = lasting(&store).expect("readable");
        if close {
            store.close().expect("closes");
        } else {
            drop(store);
        }
        let opened = TensorStore::open_on(Arc::new(self.disk.clone()), self.config.clone()).expect("opens");
        assert!(opened.recovery().damages.is_empty(), "{:?}", opened.recovery());
        assert_eq!(lasting(&opened).expect("readable"), before, "what a close and an open changed");
        self.store = Some(opened);
    }
}
