//! Snapshots, backups and metadata.

use bitgrain_store::{Dependents, StoreError, TensorId, Tier};

use super::{open, wave};

#[test]
fn a_snapshot_does_not_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("a", &[10], &wave(1, 10)).expect("put");
    store.put("b", &[10], &wave(2, 10)).expect("put");
    let (a, b) = (store.get("a").expect("there"), store.get("b").expect("there"));
    let snapshot = store.snapshot();
    store.put("a", &[5], &wave(3, 5)).expect("put");
    store.delete("b", Dependents::Refuse).expect("deleted");
    store.put("c", &[1], &[1.0]).expect("put");
    store.compact(bitgrain_store::CompactOptions { garbage: 0.0, all: true }).expect("compacts");
    assert_eq!((snapshot.get("a").expect("there"), snapshot.get("b").expect("there")), (a, b));
    assert_eq!(snapshot.ids(), [TensorId::from("a"), TensorId::from("b")]);
    assert!(!snapshot.contains("c") && matches!(snapshot.get("c"), Err(StoreError::NotFound { .. })));
    assert_eq!(snapshot.meta("a").expect("there").shape, [10]);
    assert_eq!(snapshot.get_rows("a", 2..4).expect("rows").values, snapshot.get("a").expect("there").values[2..4]);
}

#[test]
fn a_backup_is_an_independent_store_with_the_same_tensors() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for i in 0..30_usize {
        store.put(i as u128, &[40], &wave(i, 40)).expect("put");
    }
    store.compact(bitgrain_store::CompactOptions { garbage: 0.0, all: true }).expect("compacts");
    store.put("late", &[2], &[1.0, 2.0]).expect("put");
    let target = copy.path().join("backup");
    store.backup(&target).expect("copied");
    store.put("too late", &[1], &[1.0]).expect("put");
    assert!(matches!(store.backup(&target), Err(StoreError::NotEmpty { .. })));
    let other = open(&target);
    assert!(other.recovery().damages.is_empty() && other.recovery().torn_bytes == 0);
    assert_eq!(other.len(), 31);
    for i in 0..30_u128 {
        assert_eq!(other.get(i).expect("there"), store.get(i).expect("there"));
    }
    assert!(other.contains("late") && !other.contains("too late"));
    other.put("own", &[1], &[1.0]).expect("put");
    assert!(!store.contains("own") && other.verify().expect("reads").is_clean());
}

#[test]
fn scans_are_ordered_and_return_metadata() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for id in ["layer/2", "layer/10", "bias", "layer"] {
        store.put(id, &[2, 3], &wave(1, 6)).expect("put");
    }
    store.put(300_u128, &[1], &[1.0]).expect("put");
    store.put(4_u128, &[1], &[1.0]).expect("put");
    let ids = |prefix| store.scan(prefix).map(|meta| meta.expect("readable").id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(None), ["bias", "layer", "layer/10", "layer/2", "#4", "#300"]);
    assert_eq!(ids(Some("layer/")), ["layer/10", "layer/2"]);
    let user = [("unit".to_owned(), "kelvin".to_owned()), ("from".to_owned(), String::new())];
    store.set_user("bias", &user).expect("written down");
    store.pin("bias", Some(Tier::Hot)).expect("pinned");
    store.set_max_error("bias", Some(0.5)).expect("within");
    assert!(matches!(store.set_max_error("bias", Some(1e-9)), Err(StoreError::BoundExceeded { .. })));
    assert!(matches!(store.set_max_error("bias", Some(f32::NAN)), Err(StoreError::InvalidMaxError { .. })));
    drop(store.get("bias").expect("there"));
    let accesses = store.meta("bias").expect("there").accesses;
    store.close().expect("closes");
    let store = open(folder.path());
    let meta = store.meta("bias").expect("there");
    assert_eq!((&meta.user[..], meta.pinned, meta.max_error), (&user[..], Some(Tier::Hot), Some(0.5)));
    assert_eq!((meta.shape, meta.provenance.bits, meta.accesses), (vec![2, 3], 8, accesses));
    assert_eq!(accesses, 2);
    // A `put` keeps the metadata of the id.
    store.put("bias", &[1], &[0.25]).expect("put");
    let again = store.meta("bias").expect("there");
    assert_eq!((&again.user[..], again.pinned, again.created), (&user[..], Some(Tier::Hot), meta.created));
}
