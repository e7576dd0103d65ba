//! Tiers follow use.

use bitgrain_store::policy::{PolicyConfig, Reason};
use bitgrain_store::{StoreConfig, TensorStore, Tier};

use super::{distance, evicting, wave, with_clock};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

#[test]
fn an_idle_tensor_steps_down_and_its_bounds_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let config = evicting(config);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    let values = wave(1, 1000);
    let mut bound = store.put("x", &[1000], &values).expect("put").bound;
    let mut seen = vec![Tier::Hot];
    for hour in 2..72 {
        clock.set(hour * HOUR);
        let planned = store.plan(hour * HOUR).expect("plans");
        let report = store.tick(hour * HOUR).expect("ticks");
        assert_eq!(planned.moves, report.moves);
        let meta = store.meta("x").expect("there");
        if meta.provenance.tier == Tier::Absent {
            seen.push(Tier::Absent);
            break;
        }
        // A normal read would count as an access; reading a snapshot does not.
        let tensor = store.snapshot().get("x").expect("there");
        assert!(distance(&values, &tensor.values) <= tensor.provenance.measured, "hour {hour}");
        if Some(&meta.provenance.tier) != seen.last() {
            assert!(tensor.provenance.bound > bound, "bounds add up");
            bound = tensor.provenance.bound;
            seen.push(meta.provenance.tier);
        }
    }
    assert_eq!(seen, [Tier::Hot, Tier::Warm, Tier::Cold, Tier::Absent]);
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config).expect("opens");
    assert_eq!(store.meta("x").expect("there").provenance.tier, Tier::Absent);
}

#[test]
fn a_frequently_used_tensor_is_rewritten_with_more_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put("x", &[100], &wave(1, 100)).expect("put");
    for hour in 2..14 {
        clock.set(hour * HOUR);
        store.tick(hour * HOUR).expect("ticks");
    }
    let cold = store.meta("x").expect("there").provenance;
    assert!(cold.tier > Tier::Hot, "{cold:?}");
    for period in 0..80 {
        let now = 14 * HOUR + period * 10 * MINUTE;
        clock.set(now);
        store.get("x").expect("there");
        store.tick(now).expect("ticks");
    }
    let meta = store.meta("x").expect("there");
    assert_eq!((meta.wanted, meta.provenance), (Tier::Hot, cold), "bits come with values only");
    let cost = store.put("x", &[100], &wave(2, 100)).expect("put");
    assert_eq!((cost.tier, store.meta("x").expect("there").provenance.tier), (Tier::Hot, Tier::Hot));
}

#[test]
fn pins_and_limits_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), evicting(config)).expect("opens");
    let values = wave(1, 500);
    for id in ["pinned", "limited", "free"] {
        store.put(id, &[500], &values).expect("put");
    }
    store.pin("pinned", Some(Tier::Warm)).expect("pinned");
    store.set_max_error("limited", Some(0.15)).expect("within");
    for hour in 2..100 {
        clock.set(hour * HOUR);
        store.tick(hour * HOUR).expect("ticks");
    }
    assert_eq!(store.meta("free").expect("there").provenance.tier, Tier::Absent);
    assert_eq!(store.meta("pinned").expect("there").provenance.tier, Tier::Warm);
    let limited = store.meta("limited").expect("there").provenance;
    assert!(limited.bound <= 0.15 && limited.tier != Tier::Hot, "{limited:?}");
    assert!(distance(&values, &store.get("limited").expect("there").values) <= 0.15);
}

#[test]
fn too_many_warm_bytes_send_the_least_recently_used_to_five_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let policy = PolicyConfig { warm_byte_cap: 10_000, ..PolicyConfig::adr019() };
    let store = TensorStore::open(folder.path(), StoreConfig { policy, ..config }).expect("opens");
    for i in 0..20_usize {
        clock.set(HOUR + i as u64 * 1000);
        store.put(i as u128, &[1000], &wave(i, 1000)).expect("put");
    }
    let mut capped = Vec::new();
    for step in 0..20 {
        let now = 3 * HOUR + step * 10 * MINUTE;
        clock.set(now);
        let moves = store.tick(now).expect("ticks").moves;
        capped.extend(moves.into_iter().filter(|m| m.reason == Reason::WarmCap).map(|m| m.id.to_string()));
    }
    assert!(capped.len() > 5, "{capped:?}");
    assert_eq!(capped[..3], ["#0", "#1", "#2"], "the least recently used first");
}

#[test]
fn a_clock_that_goes_back_moves_no_tensor_and_is_followed_by_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(100 * HOUR);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    store.put("x", &[10], &wave(1, 10)).expect("put");
    clock.set(HOUR);
    store.put("y", &[10], &wave(1, 10)).expect("put");
    assert!(store.tick(HOUR).expect("ticks").moves.is_empty());
    let meta = store.meta("y").expect("there");
    assert_eq!((meta.created, meta.accessed), (HOUR, HOUR));
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put("z", &[10], &wave(1, 10)).expect("put");
    assert_eq!(store.meta("z").expect("there").created, HOUR);
}
