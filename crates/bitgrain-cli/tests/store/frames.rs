//! Temporal tensors.

use super::{error, folder, json, npy, printed, values};

#[test]
fn frames_are_exported_as_an_axis() {
    let folder = folder();
    let found = json(folder.path(), &["get", "s", "room", "--frames", "10..13"]);
    assert_eq!(found["shape"], serde_json::json!([3, 20]));
    let bound = found["provenance"]["bound"].as_f64().expect("a bound");
    for (at, value) in values(&found).into_iter().enumerate() {
        assert!((value - f64::from(290.0 + ((200 + at) as f32 * 0.01).sin())).abs() <= bound, "{at}");
    }
    assert!(error(folder.path(), &["get", "s", "m", "--frames", "0..1"]).contains("has no frames"));
}

#[test]
fn frames_are_appended_all_or_none() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "bad.npy", &[5, 20], |at| if at == 50 { f32::INFINITY } else { 290.0 });
    let said = error(folder, &["append", "s", "room", "bad.npy"]);
    assert!(said.contains("index 50 is inf") && said.contains("--non-finite"), "{said}");
    assert_eq!(json(folder, &["stat", "s", "room"])["frames"], 50);
    let found = json(folder, &["append", "s", "room", "bad.npy", "--non-finite", "clamp"]);
    assert_eq!(found["frames"], 55);
    let frames = json(folder, &["get", "s", "room", "--frames", "52"]);
    assert!((values(&frames)[10] - 290.0).abs() < 2.0, "the largest finite value of the block");
}

#[test]
fn frames_are_replaced_only_on_request() {
    let folder = folder();
    let folder = folder.path();
    let said = error(folder, &["put", "s", "room", "m.npy"]);
    assert!(said.contains("`room` has 50 frames") && said.contains("--replace"), "{said}");
    npy(folder, "new.npy", &[3], |at| at as f32);
    npy(folder, "room.npy", &[3], |at| at as f32);
    assert!(error(folder, &["import", "s", "new.npy", "room.npy"]).contains("`room` has 50 frames"));
    assert!(error(folder, &["get", "s", "new"]).contains("unknown tensor id `new`"), "nothing was put");
    assert_eq!(json(folder, &["stat", "s", "room"])["frames"], 50);
    printed(folder, &["put", "s", "room", "m.npy", "--replace"]);
    assert!(json(folder, &["stat", "s", "room"])["frames"].is_null());
    // Appending does not replace a tensor either.
    assert!(error(folder, &["append", "s", "m", "m.npy"]).contains("`m` is not temporal"));
}

#[test]
fn limits_hold_from_the_first_frame_on() {
    let folder = folder();
    let folder = folder.path();
    // With 8 bits, values around 290 have an error of about 1.
    npy(folder, "steps.npy", &[6, 20], |at| 290.0 * (at as f32 * 0.7).sin());
    assert!(
        error(folder, &["append", "s", "tight", "steps.npy", "--max-error", "0.001"]).contains("above the limit 0.001")
    );
    assert!(error(folder, &["stat", "s", "tight"]).contains("unknown tensor id `tight`"), "all or none");
    printed(folder, &["append", "s", "loose", "steps.npy", "--max-error", "2", "--pin", "warm"]);
    let found = json(folder, &["stat", "s", "loose"]);
    assert_eq!((found["frames"].as_u64(), found["pinned"].as_str()), (Some(6), Some("warm")));
    assert_eq!(found["max_error"], 2.0);
    assert!(found["provenance"]["bound"].as_f64().expect("a bound") <= 2.0);
    printed(folder, &["append", "s", "cold", "steps.npy", "--pin", "cold"]);
    assert_eq!(json(folder, &["stat", "s", "cold"])["provenance"]["bits"], 3);
    // A failed append leaves the limits unchanged.
    assert!(error(folder, &["append", "s", "loose", "v.npy", "--one", "--pin", "hot"]).contains("have 20 values"));
    assert_eq!(json(folder, &["stat", "s", "loose"])["pinned"], "warm");
}
