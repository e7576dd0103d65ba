//! Recording of accesses.

use super::{folder, json, npy, printed, segments};

#[test]
fn a_second_read_within_a_period_writes_no_segment() {
    let folder = folder();
    let folder = folder.path();
    // `m` was just put, and an access within the same ten minutes is not recorded. If a new period begins during the
    // test, only the first read is recorded.
    printed(folder, &["get", "s", "m"]);
    let before = segments(&folder.join("s"));
    for _ in 0..5 {
        printed(folder, &["get", "s", "m"]);
        printed(folder, &["get", "s", "m", "--rows", "1..3"]);
    }
    let after = segments(&folder.join("s"));
    assert!(after.len() <= before.len() + 1, "{before:?} {after:?}");
}

#[test]
fn a_read_after_a_while_is_recorded() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let hour = 3_600_000;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis();
    let past = u64::try_from(now).expect("in range") - hour;
    struct Then(u64);
    impl bitgrain::store::Clock for Then {
        fn now(&self) -> u64 {
            self.0
        }
    }
    let clock = std::sync::Arc::new(Then(past));
    let config = bitgrain::store::StoreConfig { clock, ..bitgrain::store::StoreConfig::default() };
    let store = bitgrain::store::TensorStore::open(folder.join("s"), config).expect("opens");
    store.put("x", &[2], &[1.0, 2.0]).expect("put");
    store.append("frames", &[2], &[1.0, 2.0], 0).expect("appended");
    store.close().expect("closes");
    for id in ["x", "frames"] {
        let about = || json(folder, &["stat", "s", id]);
        assert_eq!(about()["accessed"], past);
        let accesses = about()["accesses"].as_u64().expect("a number");
        printed(folder, &["get", "s", id]);
        assert!(about()["accessed"].as_u64() >= Some(past + hour), "{id}");
        assert_eq!(about()["accesses"], accesses + 1);
    }
}

#[test]
fn many_sessions_do_not_make_many_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    npy(folder, "x.npy", &[10], |at| at as f32);
    printed(folder, &["init", "s"]);
    for i in 0..150 {
        printed(folder, &["put", "s", &format!("#{i}"), "x.npy", "--lossless"]);
    }
    assert!(segments(&folder.join("s")).len() <= 65, "{}", segments(&folder.join("s")).len());
    assert_eq!(json(folder, &["stat", "s"])["tensors"], 150);
    assert!(printed(folder, &["verify", "s"]).contains("no damage found"));
}
