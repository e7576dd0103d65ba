//! Memory and disk use per tensor, and error limits.

use bitgrain_codec::NonFinite;
use bitgrain_store::{PutOptions, StoreConfig, StoreError, SyncMode, TensorId, TensorStore, Tier};

use super::{distance, open, wave};

/// Returns the compression ratio on disk of a thousand tensors of a thousand floats, after closing.
fn times_smaller(sync: SyncMode, id: impl Fn(usize) -> TensorId, read_later: bool) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || TensorStore::open(folder.path(), StoreConfig { sync, ..StoreConfig::default() }).expect("opens");
    let store = open();
    for i in 0..1000 {
        store.put(id(i), &[10, 100], &wave(i, 1000)).expect("put");
    }
    store.close().expect("closes");
    if read_later {
        let store = open();
        (0..1000).for_each(|i| assert_eq!(store.get(id(i)).expect("there").values.len(), 1000));
        store.close().expect("closes");
    }
    // The reserve for a full disk does not grow with the number of tensors.
    let files = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry"));
    let files = files.filter(|entry| entry.file_name() != "RESERVE");
    let bytes: u64 = files.map(|entry| entry.metadata().expect("readable").len()).sum();
    4_000_000.0 / bytes as f64
}

#[test]
fn a_thousand_floats_are_3_7_times_smaller_for_any_id_and_after_a_read() {
    let (number, name) = (|i| TensorId::from(i as u128), |i| TensorId::from(format!("tensor/{i:05}")));
    for sync in [SyncMode::Always, SyncMode::OnSeal] {
        for read_later in [false, true] {
            let (numbers, names) = (times_smaller(sync, number, read_later), times_smaller(sync, name, read_later));
            println!("{sync:?}, read later: {read_later}: {numbers:.3}, names {names:.3}");
            // The usage log repeats the ids.
            assert!(
                numbers >= 3.7 && names >= if read_later { 3.67 } else { 3.7 },
                "{sync:?}, {read_later}: {numbers}, {names}"
            );
        }
    }
}

#[test]
fn an_error_limit_adds_bits_to_the_tier_only_if_needed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let values = wave(3, 1000);
    for (max_error, bits) in [(3.0, 3), (0.2, 5), (0.05, 7), (0.02, 8)] {
        let id = format!("at most {max_error}");
        // The pin to cold would be 3 bits; the limit requires more bits where 3 are too few.
        let config = PutOptions { max_error: Some(max_error), ..PutOptions::default() };
        store
            .put_with(&*id, &[1000], &values, &PutOptions { tier: Some(Tier::Cold), ..PutOptions::default() })
            .expect("put");
        let cost = store.put_with(&*id, &[1000], &values, &config).expect("put");
        assert!(cost.bound <= max_error && cost.bits >= bits, "{max_error}: {cost:?}");
        assert!(distance(&values, &store.get(&*id).expect("there").values) <= cost.measured);
    }
    // Where 8 bits are too few, 16 may do.
    let finer = PutOptions { max_error: Some(2e-3), ..PutOptions::default() };
    let cost = store.put_with("finer", &[1000], &values, &finer).expect("put");
    assert!(cost.tier == Tier::F16 && cost.bits == 16 && cost.bound <= 2e-3, "{cost:?}");
    assert!(distance(&values, &store.get("finer").expect("there").values) <= cost.measured);
    let strict = PutOptions { max_error: Some(1e-5), ..PutOptions::default() };
    assert!(matches!(
        store.put_with("strict", &[1000], &values, &strict),
        Err(StoreError::BoundExceeded { tier: Tier::F16, .. })
    ));
    let cost = store.put_with("strict", &[1000], &values, &PutOptions { lossless: true, ..strict }).expect("put");
    assert_eq!((cost.tier, cost.bound, cost.bits), (Tier::Lossless, 0.0, 32));
    assert_eq!(store.get("strict").expect("there").values, values);
}

#[test]
fn non_finite_values_are_replaced_only_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let values = [1.0, f32::NAN, f32::INFINITY, -2.0];
    for (policy, expected) in [(NonFinite::Zero, [1.0, 0.0, 0.0, -2.0]), (NonFinite::Clamp, [1.0, 0.0, 2.0, -2.0])] {
        for tier in [Tier::Hot, Tier::Lossless] {
            let options = PutOptions { non_finite: policy, tier: Some(tier), ..PutOptions::default() };
            let cost = store.put_with("x", &[4], &values, &options).expect("put");
            assert!(distance(&expected, &store.get("x").expect("there").values) <= cost.bound);
        }
    }
}

#[test]
fn user_metadata_has_its_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[1], &[1.0]).expect("put");
    let many: Vec<(String, String)> = (0..2000).map(|i| (i.to_string(), String::new())).collect();
    assert!(matches!(store.set_user("x", &many), Err(StoreError::UserTooLarge { pairs: 2000, .. })));
    let long = [("k".to_owned(), "v".repeat(300 << 10))];
    assert!(matches!(store.set_user("x", &long), Err(StoreError::UserTooLarge { pairs: 1, .. })));
    let fits = [("k".to_owned(), "v".repeat(200 << 10))];
    store.set_user("x", &fits).expect("fits");
    assert_eq!(store.meta("x").expect("there").user, fits);
    assert!(matches!(
        store.put_with("x", &[1], &[1.0], &PutOptions { tier: Some(Tier::Absent), ..PutOptions::default() }),
        Err(StoreError::AbsentValues)
    ));
}
