//! Wrong clocks, concurrent writers and folders with other files.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use bitgrain::store::{CompactOptions, SimulatedClock, StoreConfig, SyncMode, TensorStore};

use super::{bitgrain, error, folder, json, npy, printed};

const HOUR: u64 = 3_600_000;

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("a time")
}

#[test]
fn times_in_another_unit_are_rejected_unless_simulated() {
    let folder = folder();
    let folder = folder.path();
    for wrong in [now() / 1000, now() * 1000, now() + 48 * HOUR] {
        let said = error(folder, &["tick", "s", "--now-ms", &wrong.to_string()]);
        assert!(said.contains("time out of range") && said.contains("--simulate"), "{said}");
    }
    let later = (now() + 48 * HOUR).to_string();
    let plan = json(folder, &["tick", "s", "--now-ms", &later, "--dry-run"]);
    let done = json(folder, &["tick", "s", "--now-ms", &later, "--simulate"]);
    assert_eq!(plan["moves"], done["moves"]);
    assert!(error(folder, &["tick", "s", "--simulate"]).contains("--now-ms"));
    // The times in the store are unchanged.
    printed(folder, &["put", "s", "new", "v.npy"]);
    let created = json(folder, &["stat", "s", "new"])["created"].as_u64().expect("a time");
    assert!(created.abs_diff(now()) < HOUR);
}

#[test]
fn a_tensor_dated_in_the_future_steps_down_with_one_tick_per_process() {
    let folder = folder();
    let folder = folder.path();
    let ahead = StoreConfig {
        clock: std::sync::Arc::new(SimulatedClock::new(now() + 365 * 24 * HOUR)),
        ..StoreConfig::default()
    };
    let store = TensorStore::open(folder.join("s"), ahead).expect("opens");
    store.put("ahead", &[2], &[1.0, 2.0]).expect("put");
    store.get("m").expect("used in the future");
    store.close().expect("closes");
    printed(folder, &["tick", "s"]);
    for hours in [6, 12, 18] {
        let later = (now() + hours * HOUR).to_string();
        printed(folder, &["tick", "s", "--now-ms", &later]);
    }
    for id in ["ahead", "m"] {
        let bits = json(folder, &["stat", "s", id])["provenance"]["bits"].as_u64().expect("bits");
        assert!(bits < 8, "{id} has {bits} bits");
    }
}

#[test]
#[cfg(unix)]
fn deleting_the_lock_file_does_not_admit_a_second_writer() {
    let folder = folder();
    let folder = folder.path();
    let store = TensorStore::open(folder.join("s"), StoreConfig::default()).expect("opens");
    for round in 0..3 {
        fs::remove_file(folder.join("s/LOCK")).expect("deleted");
        let said = error(folder, &["put", "s", "intruder", "v.npy"]);
        assert!(said.contains("locked by"), "{said}");
        store.put(round, &[2], &[1.0, 2.0]).expect("put");
        fs::write(folder.join("s/LOCK"), "").expect("created again");
    }
    store.close().expect("closes");
    printed(folder, &["put", "s", "later", "v.npy"]);
    assert_eq!(json(folder, &["verify", "s"])["damages"], serde_json::json!([]));
}

#[test]
fn a_store_being_written_to_verifies_clean() {
    let folder = folder();
    let folder = folder.path();
    let config = StoreConfig { segment_bytes: 20_000, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let store = TensorStore::open(folder.join("s"), config).expect("opens");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut round: u32 = 0;
            while !over.load(Relaxed) {
                round += 1;
                let values: Vec<f32> = (0..2000).map(|i| (i * round % 977) as f32).collect();
                store.put(u128::from(round % 16), &[2000], &values).expect("put");
                store.compact(CompactOptions { all: round.is_multiple_of(5), garbage: 0.2 }).expect("compacts");
            }
        });
        let outputs: Vec<_> = (0..20).map(|_| bitgrain(folder, &["verify", "s"])).collect();
        over.store(true, Relaxed);
        writer.join().expect("wrote");
        for output in outputs {
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{said} {}", String::from_utf8_lossy(&output.stdout));
        }
    });
}

#[test]
fn a_store_is_not_created_among_other_files() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("papers")).expect("made");
    fs::write(folder.join("papers/thesis.tex"), "x").expect("written");
    let said = error(folder, &["init", "papers"]);
    assert!(said.contains("`thesis.tex`") && said.contains("empty folder"), "{said}");
    assert_eq!(fs::read_dir(folder.join("papers")).expect("a folder").count(), 1);
}

/// Simulates days of use with single commands (put, append, get, tick, rm, compact), and checks all values.
#[test]
fn days_of_separate_processes_keep_every_put() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "small.npy", &[64], |at| at as f32 * 0.01);
    let (mut present, start) = (Vec::new(), now());
    for day in 0..10_u64 {
        let id = format!("day/{day}");
        printed(folder, &["put", "s", &id, "small.npy", "--max-error", "0.01"]);
        printed(folder, &["append", "s", "series", "small.npy", "--one", "--time", &day.to_string()]);
        present.push(id);
        if day % 3 == 2 {
            printed(folder, &["rm", "s", &present.remove(0)]);
        }
        // On some days the clock is wrong.
        let at = match day % 4 {
            1 => start.saturating_sub(day * 24 * HOUR),
            3 => start + 3650 * 24 * HOUR,
            _ => start + day * 24 * HOUR,
        };
        printed(folder, &["tick", "s", "--now-ms", &at.to_string(), "--simulate", "--absent", "never"]);
        if day % 4 == 0 {
            printed(folder, &["compact", "s", "--all"]);
        }
        let found = json(folder, &["get", "s", &present[0]]);
        for (at, value) in super::values(&found).into_iter().enumerate() {
            assert!((value - at as f64 * 0.01).abs() <= 0.010_01, "day {day}, value {at}");
        }
    }
    for id in &present {
        printed(folder, &["get", "s", id]);
    }
    assert_eq!(json(folder, &["stat", "s", "series"])["frames"], 10);
    assert_eq!(json(folder, &["verify", "s"])["damages"], serde_json::json!([]));
}
