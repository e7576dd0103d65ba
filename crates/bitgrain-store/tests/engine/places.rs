//! Folders and settings that a store rejects.

use std::fs;

use bitgrain_store::{StoreConfig, StoreError, TensorStore};

use super::{open, wave};

#[test]
fn a_new_store_is_not_created_among_other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("thesis.tex"), "x").expect("written");
    let refused = TensorStore::open(folder.path(), StoreConfig::default()).map(drop);
    assert!(matches!(&refused, Err(StoreError::OtherFiles { name }) if name == "thesis.tex"), "{refused:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was left there");
    fs::remove_file(folder.path().join("thesis.tex")).expect("removed");
    fs::write(folder.path().join(".hidden"), "x").expect("written");
    let store = open(folder.path());
    store.put("x", &[10], &wave(1, 10)).expect("put");
    drop(store);
    // An existing store is opened even if its folder contains other files.
    fs::write(folder.path().join("notes.txt"), "x").expect("written");
    assert!(open(folder.path()).contains("x"));
}

#[test]
fn segments_without_records_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    for segment_bytes in [0, 1, 511] {
        let refused =
            TensorStore::open(folder.path(), StoreConfig { segment_bytes, ..StoreConfig::default() }).map(drop);
        assert!(matches!(refused, Err(StoreError::InvalidSegmentBytes { least: 512, .. })), "{refused:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_backup_inside_the_store_folder_is_rejected() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().join("s");
    let store = open(&folder);
    store.put("x", &[10], &wave(1, 10)).expect("put");
    let inside = [folder.join("copy"), folder.join("a/b/c"), outer.path().join("s/../s/copy")];
    for path in inside {
        let refused = store.backup(&path);
        assert!(matches!(refused, Err(StoreError::InsideStore { .. })), "{}: {refused:?}", path.display());
        assert!(!path.exists());
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&folder, outer.path().join("link")).expect("linked");
        let refused = store.backup(outer.path().join("link/copy"));
        assert!(matches!(refused, Err(StoreError::InsideStore { .. })), "{refused:?}");
    }
    store.backup(outer.path().join("s-copy")).expect("beside it");
    store.backup(outer.path().join("new/copy")).expect("beside it");
}

#[test]
fn a_put_replaces_frames_only_on_request() {
    use bitgrain_store::PutOptions;
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.append("room", &[3], &[1.0, 2.0, 3.0], 0).expect("appended");
    let keep = PutOptions { keep_frames: true, ..PutOptions::default() };
    let refused = store.put_with("room", &[1], &[1.0], &keep);
    assert!(matches!(refused, Err(StoreError::HasFrames { frames: 1, .. })), "{refused:?}");
    let mut batch = store.batch();
    batch.put_with("room", &[1], &[1.0], &keep).expect("found at the end");
    assert!(matches!(batch.commit(), Err(StoreError::HasFrames { .. })));
    assert_eq!(store.frame_count("room").expect("temporal"), 1);
    store.put_with("whole", &[1], &[1.0], &keep).expect("there are no frames");
    store.put_with("whole", &[1], &[2.0], &keep).expect("there are no frames");
    store.put("room", &[1], &[1.0]).expect("replaced");
}

#[test]
fn an_error_limit_can_be_set_with_the_first_or_a_later_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let frame = wave(3, 200);
    let first = store.append_limited("new", &[200], &frame, 0, Some(0.02)).expect("within");
    assert!(first.provenance.bound <= 0.02);
    assert_eq!(store.meta("new").expect("there").max_error, Some(0.02));
    assert!(matches!(
        store.append_limited("impossible", &[200], &frame, 0, Some(1e-9)),
        Err(StoreError::BoundExceeded { .. })
    ));
    assert!(!store.contains("impossible"));
    store.append("late", &[200], &frame, 0).expect("appended");
    let bound = store.meta("late").expect("there").provenance.bound;
    store.append_limited("late", &[200], &frame, 1, Some(bound)).expect("within");
    let refused = store.append_limited("late", &[200], &frame, 2, Some(bound / 1e6));
    assert!(matches!(refused, Err(StoreError::BoundExceeded { .. })));
    let wide: Vec<f32> = frame.iter().map(|value| value * 1e3).collect(); // 16 bits are too few as well
    let refused = store.append_limited("late", &[200], &wide, 2, Some(bound * 2.0));
    assert!(matches!(refused, Err(StoreError::BoundExceeded { .. })));
    let about = store.meta("late").expect("there");
    assert_eq!((about.max_error, about.frames), (Some(bound), Some(2)), "as it was before");
}
