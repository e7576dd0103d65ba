//! Tiers, pins and evicted data.

use std::path::Path;
use std::sync::Arc;

use bitgrain::store::policy::{AbsentRule, PolicyConfig};
use bitgrain::store::{SimulatedClock, StoreConfig, TensorStore};

use super::{error, folder, json, printed};

/// Runs ticks over several days with a rule for evictions.
fn idle_under(absent: AbsentRule, store: &Path) {
    let created = TensorStore::open_read_only(store).expect("opens").meta("m").expect("there").created;
    let clock = Arc::new(SimulatedClock::new(created));
    let policy = PolicyConfig { absent, ..PolicyConfig::default() };
    let store = TensorStore::open(store, StoreConfig { policy, clock, ..StoreConfig::default() }).expect("opens");
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
    assert_eq!(moved, ["in/v", "room"], "temporal tensors step down, too");
    let stats = json(folder, &["stat", "s"]);
    assert_eq!((stats["tiers"][3]["tier"].as_str(), stats["tiers"][3]["tensors"].as_u64()), (Some("warm"), Some(2)));
    let before = stats["file_bytes"].as_u64().expect("bytes");
    printed(folder, &["compact", "s", "--all"]);
    assert!(json(folder, &["stat", "s"])["file_bytes"].as_u64().expect("bytes") < before);
}

#[test]
fn idle_data_stays_by_default() {
    let folder = folder();
    let folder = folder.path();
    idle_under(PolicyConfig::default().absent, &folder.join("s"));
    printed(folder, &["get", "s", "m", "-o", "m2.npy"]);
    assert_eq!(json(folder, &["export", "s", "all.npz"])["skipped"].as_u64(), Some(0));
    // The default of the command is the same.
    let moves = json(folder, &["tick", "s", "--dry-run", "--now-ms", "9000000000000"])["moves"].clone();
    assert_eq!(moves.as_array().map(Vec::len), Some(0), "{moves}");
    let moves =
        json(folder, &["tick", "s", "--dry-run", "--now-ms", "9000000000000", "--absent", "any"])["moves"].clone();
    assert_eq!(moves[0]["to"].as_str(), Some("absent"), "{moves}");
}

#[test]
fn evicted_data_is_an_error_and_not_written_as_zeros() {
    let folder = folder();
    let folder = folder.path();
    idle_under(AbsentRule::Any, &folder.join("s"));
    assert!(error(folder, &["get", "s", "m", "-o", "m2.npy"]).contains("`m` has no data"));
    assert!(error(folder, &["get", "s", "m", "--rows", "0..1"]).contains("`m` has no data"));
    assert!(!folder.join("m2.npy").exists());
    let found = json(folder, &["export", "s", "all.npz"]);
    assert_eq!((found["exported"].as_u64(), found["skipped"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn the_chart_shows_no_ratio_for_tiers_without_data() {
    let folder = folder();
    let folder = folder.path();
    assert!(printed(folder, &["stat", "s"]).contains('×'));
    idle_under(AbsentRule::Any, &folder.join("s"));
    let chart = printed(folder, &["stat", "s"]);
    let absent = chart.lines().find(|line| line.starts_with("absent")).expect("a line");
    assert!(absent.contains('–') && absent.contains("no data") && !absent.contains('×'), "{absent}");
    assert!(!printed(folder, &["stat", "s", "m"]).contains("inf"));
}

#[test]
fn the_tier_of_frames_is_the_lowest_and_pins_hold_for_the_first_frame() {
    let folder = folder();
    let folder = folder.path();
    let tier = |arguments: &[&str]| {
        let found = json(folder, arguments);
        let of = if found["provenance"].is_null() { &found } else { &found["provenance"] };
        of["tier"].as_str().expect("a tier").to_owned()
    };
    printed(folder, &["append", "s", "f", "m.npy", "--pin", "cold"]);
    printed(folder, &["pin", "s", "f", "hot"]);
    printed(folder, &["append", "s", "f", "m.npy"]);
    assert_eq!([tier(&["stat", "s", "f"]), tier(&["get", "s", "f"])], ["cold", "cold"]);
    printed(folder, &["append", "s", "exact", "m.npy", "--pin", "lossless", "--max-error", "0.5"]);
    assert_eq!(tier(&["stat", "s", "exact"]), "lossless");
    assert_eq!(tier(&["put", "s", "m", "m.npy", "--tier", "cold", "--pin", "warm"]), "warm");
}

#[test]
fn ticks_of_two_processes_share_one_interval() {
    let folder = folder();
    let folder = folder.path();
    let created = json(folder, &["stat", "s", "m"])["created"].as_u64().expect("a time");
    let hours = |hours: u64| created + hours * 3_600_000;
    let tick = |now: u64, cap: &str| {
        let done = json(folder, &["tick", "s", "--now-ms", &now.to_string(), "--warm-cap", cap]);
        let capped = |step: &&serde_json::Value| step["reason"].as_str() == Some("WarmCap");
        done["moves"].as_array().expect("moves").iter().filter(capped).count()
    };
    assert_eq!(tick(hours(3), "1GiB"), 0);
    printed(folder, &["put", "s", "extra", "m.npy", "--tier", "warm"]);
    let warm = json(folder, &["stat", "s"])["tiers"][3]["bytes"].as_u64().expect("bytes");
    assert!(tick(hours(3) + 1000, &(warm - 1).to_string()) > 0, "just below the size that `stat` shows");
    assert_eq!(tick(hours(3) + 2000, "1"), 0, "a second later, from another process");
    assert!(tick(hours(3) + 61_000, "1") > 0);
}

#[test]
fn limits_require_a_tier_with_data() {
    let folder = folder();
    let folder = folder.path();
    for arguments in [
        &["pin", "s", "m", "absent"][..],
        &["put", "s", "m", "m.npy", "--pin", "absent"],
        &["put", "s", "m", "m.npy", "--tier", "absent"],
    ] {
        assert!(
            error(folder, arguments).contains("does not store data; choose one of lossless, f16, hot,"),
            "{arguments:?}"
        );
    }
    assert!(error(folder, &["put", "s", "x", "v.npy", "--tier", "tepid"]).contains("unknown tier `tepid`"));
}

#[test]
fn the_policy_decides_how_far_idle_tensors_step_down() {
    let folder = folder();
    let folder = folder.path();
    let created = json(folder, &["stat", "s", "m"])["created"].as_u64().expect("a time");
    let later = |hours: u64| (created + hours * 3_600_000).to_string();
    printed(folder, &["tick", "s", "--now-ms", &later(3), "--simulate"]);
    let to = |more: &[&str]| {
        let plan = json(folder, &[&["tick", "s", "--dry-run", "--now-ms", &later(20)], more].concat());
        let moves = plan["moves"].as_array().expect("moves").clone();
        moves.iter().find(|step| step["id"] == "m").map(|step| step["to"].as_str().expect("a tier").to_owned())
    };
    assert_eq!(to(&[]).as_deref(), Some("b6"));
    assert_eq!(to(&["--policy", "adr019"]).as_deref(), Some("cold"));
    assert_eq!(to(&["--policy", "adr019", "--least-tier", "b4"]).as_deref(), Some("b4"));
    assert_eq!(to(&["--policy", "budget:1GB"]), None);
    // Data at 7 bits was re-encoded before, so its reads are known.
    assert_eq!(to(&["--policy", "budget:1"]).as_deref(), Some("cold"));
    let left = json(folder, &["tick", "s", "--dry-run", "--now-ms", &later(20), "--policy", "budget:1"]);
    assert!(left["over_budget"].as_u64().expect("bytes") > 0);
    let told = error(folder, &["tick", "s", "--policy", "frugal"]);
    assert!(told.contains("unknown policy `frugal`; choose careful, adr019 or budget:BYTES"), "{told}");
    let told = error(folder, &["tick", "s", "--policy", "budget:much"]);
    assert!(told.contains("`much` is not a size"), "{told}");
}

#[test]
fn every_tier_and_two_scales_per_block_can_be_put() {
    let folder = folder();
    let folder = folder.path();
    let mut sizes = Vec::new();
    for (tier, bits) in
        [("f16", 16), ("hot", 8), ("warm", 7), ("b6", 6), ("warm-aggressive", 5), ("b4", 4), ("cold", 3)]
    {
        let put = json(folder, &["put", "s", tier, "m.npy", "--tier", tier]);
        assert_eq!((put["provenance"]["tier"].as_str(), put["provenance"]["bits"].as_u64()), (Some(tier), Some(bits)));
        printed(folder, &["get", "s", tier, "-o", "back.npy"]);
        sizes.push(put["bytes"].as_u64().expect("bytes"));
    }
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    printed(folder, &["put", "s", "outliers", "m.npy", "--tier", "cold", "--two-level"]);
    let told = error(folder, &["put", "s", "x", "m.npy", "--tier", "tepid"]);
    assert!(told.contains("choose one of lossless, f16, hot, warm, b6, warm-aggressive, b4, cold"), "{told}");
}
