//! Pins apply to every write, and only a tick lowers the precision.

use bitgrain_store::{AbsentReads, Dependents, PutOptions, StoreConfig, StoreError, TensorStore, Tier};

use super::{distance, evicting, open, wave, with_clock};

const HOUR: u64 = 3_600_000;

fn at(tier: Option<Tier>, pin: Option<Tier>) -> PutOptions {
    PutOptions { tier, pin, ..PutOptions::default() }
}

#[test]
fn a_put_has_at_least_the_bits_of_its_pin() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let values = wave(1, 300);
    let put = |options: &PutOptions| store.put_with("x", &[300], &values, options).expect("put").tier;
    assert_eq!(put(&at(Some(Tier::Cold), Some(Tier::Warm))), Tier::Warm);
    assert_eq!(put(&at(Some(Tier::Cold), None)), Tier::Warm, "the pin stays");
    assert_eq!(put(&at(Some(Tier::Hot), None)), Tier::Hot, "more is fine");
    assert_eq!(put(&PutOptions { lossless: true, ..PutOptions::default() }), Tier::Lossless);
    assert_eq!(put(&at(None, Some(Tier::Lossless))), Tier::Lossless);
    assert_eq!(put(&at(Some(Tier::Cold), None)), Tier::Lossless);
    // A limit below the error of the pinned tier requires more bits, as it does without a pin.
    let both = PutOptions { max_error: Some(0.02), ..at(None, Some(Tier::Cold)) };
    let cost = store.put_with("y", &[300], &values, &both).expect("put");
    assert!(cost.bound <= 0.02 && cost.tier < Tier::Cold, "{cost:?}");
}

#[test]
fn removing_a_pin_leaves_no_wanted_tier() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put("x", &[10], &wave(1, 10)).expect("put");
    for pin in [Tier::Absent, Tier::Lossless, Tier::Cold] {
        store.pin("x", Some(pin)).expect("pinned");
        assert_eq!(store.meta("x").expect("there").wanted, if pin == Tier::Absent { Tier::Hot } else { pin });
        clock.set(HOUR + 1);
        store.tick(HOUR + 1).expect("ticks");
        store.pin("x", None).expect("unpinned");
        assert_eq!(store.meta("x").expect("there").wanted, Tier::Hot, "{pin:?}");
        assert_eq!(store.put("x", &[10], &wave(1, 10)).expect("put").tier, Tier::Hot, "{pin:?}");
    }
}

#[test]
fn frames_of_a_tensor_that_is_pinned_lossless_are_exact() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    store.append("x", &[50], &wave(0, 50), 0).expect("appended");
    store.pin("x", Some(Tier::Lossless)).expect("pinned");
    for t in 1..20_usize {
        clock.set(HOUR * (1 + t as u64));
        let appended = store.append("x", &[50], &wave(t, 50), t as u64).expect("appended");
        assert_eq!((appended.provenance.tier, appended.provenance.bits), (Tier::Lossless, 32));
    }
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config).expect("opens");
    // Quantized frames before and after lossless frames are read correctly, also in a batch.
    store.pin("x", None).expect("unpinned");
    let mut batch = store.batch();
    for t in 20..25_usize {
        batch.append("x", &[50], &wave(t, 50), t as u64);
    }
    batch.commit().expect("commits");
    store.pin("x", Some(Tier::Lossless)).expect("pinned");
    store.append("x", &[50], &wave(25, 50), 25).expect("appended");
    store.compact(bitgrain_store::CompactOptions { all: true, ..Default::default() }).expect("compacts");
    let frames = store.frames("x", 0..26).expect("readable");
    for (t, frame) in frames.iter().enumerate() {
        let exact = (1..20).contains(&t) || t == 25;
        assert_eq!(frame.provenance.tier == Tier::Lossless, exact, "frame {t}");
        assert!(distance(&frame.values, &wave(t, 50)) <= frame.provenance.bound, "frame {t}");
        assert_eq!(frame.provenance.bound == 0.0, exact, "frame {t}");
    }
    assert_eq!(store.get("x").expect("the last frame").values, wave(25, 50));
    assert_eq!(store.meta("x").expect("there").provenance.tier, Tier::Hot);
    assert!(store.verify().expect("reads").is_clean());
}

#[test]
fn the_tier_of_a_temporal_tensor_is_the_lowest_of_its_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let tier = |store: &TensorStore| {
        let stats = store.stats().expect("readable");
        let counted = stats.tiers.iter().filter(|tier| tier.tensors > 0).map(|tier| tier.tier).collect::<Vec<_>>();
        let provenance = store.meta("x").expect("there").provenance;
        assert_eq!((counted, provenance.bits), (vec![provenance.tier], provenance.tier.bits()));
        provenance.tier
    };
    let store = open(folder.path());
    store.append("x", &[8], &wave(0, 8), 0).expect("appended");
    assert_eq!(tier(&store), Tier::Hot);
    store.pin("x", Some(Tier::Cold)).expect("pinned");
    for t in 1..50 {
        store.append("x", &[8], &wave(t, 8), t as u64).expect("appended");
    }
    assert_eq!(tier(&store), Tier::Cold);
    store.pin("x", Some(Tier::Hot)).expect("pinned");
    for t in 50..100 {
        store.append("x", &[8], &wave(t, 8), t as u64).expect("appended");
    }
    assert_eq!(tier(&store), Tier::Cold, "the first frames still have 3 bits");
    store.close().expect("closes");
    let store = open(folder.path());
    assert_eq!(tier(&store), Tier::Cold);
    store.compact(bitgrain_store::CompactOptions { all: true, ..Default::default() }).expect("compacts");
    drop(store);
    let store = open(folder.path());
    assert_eq!(tier(&store), Tier::Cold);
    store.delete("x", Dependents::Refuse).expect("deleted");
    store.append("x", &[8], &wave(0, 8), 0).expect("appended");
    assert_eq!(tier(&store), Tier::Hot);
}

#[test]
fn writes_have_eight_bits_however_rarely_a_tensor_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put("weekly", &[100], &wave(0, 100)).expect("put");
    for t in 1..24 * 15_usize {
        let hour = t as u64;
        let now = (1 + hour) * HOUR;
        clock.set(now);
        let frame = store.append("hourly", &[100], &wave(t, 100), hour).expect("appended").provenance;
        assert_eq!(frame.tier, Tier::Hot, "hour {hour}");
        if hour.is_multiple_of(168) {
            assert!(store.meta("weekly").expect("there").provenance.tier > Tier::Hot);
            assert_eq!(store.put("weekly", &[100], &wave(t, 100)).expect("put").tier, Tier::Hot);
        }
        if hour > 24 {
            store.tick(now).expect("ticks");
        }
    }
}

#[test]
fn a_pin_set_between_encoding_and_commit_of_a_batch_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[10], &wave(0, 10)).expect("put");
    let mut batch = store.batch();
    batch.put_with("x", &[10], &wave(1, 10), &at(Some(Tier::Cold), None)).expect("encoded");
    store.pin("x", Some(Tier::Hot)).expect("pinned");
    let committed = batch.commit();
    assert!(matches!(committed, Err(StoreError::BelowPin { .. })), "{committed:?}");
    assert_eq!(store.meta("x").expect("there").provenance.tier, Tier::Hot);
}

#[test]
fn by_default_idle_data_stays_and_reading_evicted_data_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    for id in ["kept", "evicted"] {
        store.put(id, &[2, 50], &wave(1, 100)).expect("put");
    }
    let idle = |store: &TensorStore, from: u64| {
        for hour in from..from + 24 * 30 {
            clock.set(hour * HOUR);
            store.tick(hour * HOUR).expect("ticks");
        }
    };
    idle(&store, 2);
    let kept = store.snapshot().get("kept").expect("30 idle days later");
    assert!(distance(&kept.values, &wave(1, 100)) <= kept.provenance.bound && kept.provenance.bound.is_finite());
    store.pin("kept", Some(Tier::Cold)).expect("pinned");
    store.close().expect("closes");
    // The former default.
    let store = TensorStore::open(folder.path(), evicting(config.clone())).expect("opens");
    idle(&store, 24 * 40);
    assert_eq!(store.meta("evicted").expect("there").provenance.tier, Tier::Absent);
    assert_eq!(store.meta("kept").expect("there").provenance.tier, Tier::Cold);
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    let gone = |error: StoreError| matches!(error, StoreError::TierZeroNoPolicy { .. });
    assert!(gone(store.get("evicted").expect_err("no data")));
    assert!(gone(store.get_rows("evicted", 0..1).expect_err("no data")));
    assert!(gone(store.get_into("evicted", &mut [0.0; 100]).expect_err("no data")));
    assert!(gone(store.snapshot().get("evicted").expect_err("no data")));
    assert!(store.contains("evicted") && store.verify().expect("reads").is_clean());
    store.close().expect("closes");
    // Zeros on request.
    let zeros = StoreConfig { absent_reads: AbsentReads::Zeros, ..config };
    let store = TensorStore::open(folder.path(), zeros).expect("opens");
    assert_eq!(store.get("evicted").expect("zeros").values, [0.0; 100]);
    assert_eq!(store.put("evicted", &[1], &[1.0]).expect("put").tier, Tier::Hot);
}
