//! Ids and sizes of tensors.

use bitgrain_store::{StoreError, TensorId};

use super::{open, wave};

#[test]
fn ids_are_listed_in_order_names_before_numbers_and_by_prefix() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for name in ["layer/1", "layer/0", "mean", "layer"] {
        store.put(name, &[1], &[1.0]).expect("put");
    }
    store.put(2_u128, &[1], &[1.0]).expect("put");
    store.put(1_u128, &[1], &[1.0]).expect("put");
    let text = |ids: Vec<TensorId>| ids.iter().map(TensorId::to_string).collect::<Vec<_>>();
    assert_eq!(text(store.ids(None)), ["layer", "layer/0", "layer/1", "mean", "#1", "#2"]);
    assert_eq!(text(store.ids(Some("layer/"))), ["layer/0", "layer/1"]);
    assert!(store.ids(Some("x")).is_empty());
    assert_eq!(text(store.snapshot().ids()), text(store.ids(None)));
}

#[test]
fn reading_the_shape_does_not_count_as_an_access() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("a", &[2, 0, 3], &[]).expect("put");
    store.append("f", &[2, 3], &wave(1, 6), 0).expect("appended");
    store.append("f", &[2, 3], &wave(2, 6), 1).expect("appended");
    let before = store.meta("f").expect("there").accesses;
    assert_eq!((store.shape("a").expect("there"), store.shape("f").expect("there")), (vec![2, 0, 3], vec![2, 3]));
    let snapshot = store.snapshot();
    assert_eq!((snapshot.shape("f").expect("there"), snapshot.frame_count("f").expect("there")), (vec![2, 3], 2));
    assert_eq!(store.meta("f").expect("there").accesses, before);
    assert!(matches!(store.shape("none"), Err(StoreError::NotFound { .. })));
    assert!(matches!(snapshot.frame_count("a"), Err(StoreError::NotTemporal { .. })));
}
