//! Tiers, pins, and data that is gone.

use std::path::Path;

use super::{error, folder, json, printed};

/// Days later: what nobody used has no data any more.
fn let_go(store: &Path) {
    use bitgrain::store::{SimulatedClock, StoreConfig, TensorStore};
    let created = TensorStore::open_read_only(store).expect("opens").meta("m").expect("there").created;
    let clock = std::sync::Arc::new(SimulatedClock::new(created));
    let store = TensorStore::open(store, StoreConfig { clock, ..StoreConfig::default() }).expect("opens");
    for hours in [4, 14, 60] {
        store.tick(created + hours * 3_600_000).expect("ticks");
    }
    store.close().expect("closes");
}

#[test]
fn idle_tensors_step_down_and_pins_hold() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["pin", "s", "m", "hot"]);
    let created = json(folder, &["stat", "s", "m"])["created"].as_u64().expect("a time");
    let later = (created + 3 * 3_600_000).to_string();
    let plan = json(folder, &["tick", "s", "--now-ms", &later, "--dry-run"]);
    let done = json(folder, &["tick", "s", "--now-ms", &later]);
    assert_eq!(plan["moves"], done["moves"]);
    let moved: Vec<&str> =
        done["moves"].as_array().expect("moves").iter().filter_map(|step| step["id"].as_str()).collect();
    assert_eq!(moved, ["in/v"]);
    let stats = json(folder, &["stat", "s"]);
    assert_eq!((stats["tiers"][2]["tier"].as_str(), stats["tiers"][2]["tensors"].as_u64()), (Some("warm"), Some(1)));
    let before = stats["file_bytes"].as_u64().expect("bytes");
    printed(folder, &["compact", "s", "--all"]);
    assert!(json(folder, &["stat", "s"])["file_bytes"].as_u64().expect("bytes") < before);
}

#[test]
fn data_that_is_gone_is_not_written_as_zeros() {
    let folder = folder();
    let folder = folder.path();
    let_go(&folder.join("s"));
    assert!(error(folder, &["get", "s", "m", "-o", "m2.npy"]).contains("is gone"));
    assert!(!folder.join("m2.npy").exists());
    let found = json(folder, &["export", "s", "all.npz"]);
    assert_eq!((found["exported"].as_u64(), found["left_out"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn the_chart_does_not_praise_what_has_no_data() {
    let folder = folder();
    let folder = folder.path();
    assert!(printed(folder, &["stat", "s"]).contains('×'));
    let_go(&folder.join("s"));
    let chart = printed(folder, &["stat", "s"]);
    let absent = chart.lines().find(|line| line.starts_with("absent")).expect("a line");
    assert!(absent.contains('–') && absent.contains("no data") && !absent.contains('×'), "{absent}");
    assert!(!printed(folder, &["stat", "s", "m"]).contains("inf"));
}

#[test]
fn nothing_is_held_where_there_is_no_data() {
    let folder = folder();
    let folder = folder.path();
    for arguments in [
        &["pin", "s", "m", "absent"][..],
        &["put", "s", "m", "m.npy", "--pin", "absent"],
        &["put", "s", "m", "m.npy", "--tier", "absent"],
    ] {
        assert!(error(folder, arguments).contains("keeps no data; there are lossless, hot,"), "{arguments:?}");
    }
    assert!(error(folder, &["put", "s", "x", "v.npy", "--tier", "tepid"]).contains("is no tier"));
}
