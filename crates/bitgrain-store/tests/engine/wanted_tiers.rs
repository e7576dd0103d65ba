//! Decisions of a tick persist across processes: wanted tiers, and the interval of the cap.

use bitgrain_store::policy::{PolicyConfig, Reason};
use bitgrain_store::{CompactOptions, StoreConfig, TensorStore, Tier};

use super::{SimulatedClock, wave, with_clock};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// Returns settings that write at 5 bits unless a pin or limit requires more.
fn sparing(config: &StoreConfig, warm_byte_cap: u64) -> StoreConfig {
    let policy = PolicyConfig { first_tier: Tier::WarmAggressive, warm_byte_cap, ..PolicyConfig::adr019() };
    StoreConfig { policy, ..config.clone() }
}

/// Puts a tensor at 5 bits and reads it until the policy wants 7; returns the time.
fn wanting_seven_bits(store: &TensorStore, clock: &SimulatedClock) -> u64 {
    store.put("x", &[100], &wave(1, 100)).expect("put");
    let mut now = HOUR;
    for _ in 0..4 {
        now += HOUR;
        clock.set(now);
        store.get("x").expect("there");
        store.tick(now).expect("ticks");
    }
    let meta = store.meta("x").expect("there");
    assert_eq!((meta.provenance.tier, meta.wanted), (Tier::WarmAggressive, Tier::Warm));
    now
}

#[test]
fn a_wanted_tier_survives_closing_and_compaction_and_applies_to_the_next_put() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let config = sparing(&config, 1 << 30);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    wanting_seven_bits(&store, &clock);
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    assert_eq!(store.meta("x").expect("there").wanted, Tier::Warm);
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
    store.set_user("x", &[("a".into(), "b".into())]).expect("an edit keeps the wanted tier");
    drop(store);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    assert_eq!(store.meta("x").expect("there").wanted, Tier::Warm);
    assert_eq!(store.put("x", &[100], &wave(2, 100)).expect("put").tier, Tier::Warm);
}

#[test]
fn a_withdrawn_or_fulfilled_wanted_tier_does_not_return() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let config = sparing(&config, 1 << 30);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    let now = wanting_seven_bits(&store, &clock) + 9 * HOUR;
    // After nine idle hours, the policy does not want more bits than the tensor has.
    clock.set(now);
    let moves = store.tick(now).expect("ticks").moves;
    let tier = moves.last().map_or(Tier::WarmAggressive, |step| step.to);
    assert_eq!(store.meta("x").expect("there").wanted, tier);
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    assert_eq!(store.meta("x").expect("there").wanted, tier);
    // A wanted tier does not apply to a tensor that is put under the same id later.
    store.delete("x", bitgrain_store::Dependents::Refuse).expect("deleted");
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config).expect("opens");
    assert_eq!(store.put("x", &[100], &wave(2, 100)).expect("put").tier, Tier::WarmAggressive, "a new tensor");
}

#[test]
fn the_cap_lowers_precision_once_per_interval_from_any_caller() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let capped = |warm_byte_cap| {
        let policy = PolicyConfig { warm_byte_cap, ..PolicyConfig::adr019() };
        TensorStore::open(folder.path(), StoreConfig { policy, ..config.clone() }).expect("opens")
    };
    let store = capped(15_000);
    for i in 0..20_usize {
        store.put(i as u128, &[1000], &wave(i, 1000)).expect("put");
    }
    let tick = |store: &TensorStore, now: u64| {
        clock.set(now);
        let moves = store.tick(now).expect("ticks").moves;
        moves.iter().filter(|step| step.reason == Reason::WarmCap).count()
    };
    let mut now = 3 * HOUR;
    assert_eq!(tick(&store, now), 0, "all come to 7 bits");
    now += 10 * MINUTE;
    assert!(tick(&store, now) > 0);
    store.close().expect("closes");
    // A smaller cap requires more moves, but not within the interval.
    let store = capped(1);
    assert_eq!(tick(&store, now + SECOND), 0);
    store.close().expect("closes");
    let store = capped(1);
    assert!(tick(&store, now + MINUTE) > 0);
}
