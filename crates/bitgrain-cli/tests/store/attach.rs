//! Reconstruction of tensors from others.

use super::{error, folder, json, npy, printed, values};

#[test]
fn a_tensor_is_reconstructed_after_its_data_was_evicted() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "tuned.npy", &[100, 64], |at| (at as f32 * 0.37).sin() + 0.01);
    printed(folder, &["put", "s", "tuned", "tuned.npy"]);
    let said = printed(folder, &["attach", "s", "tuned", "--base", "m"]);
    assert!(said.contains("tuned can be reconstructed from m"), "{said}");
    assert_eq!(json(folder, &["stat", "s", "tuned"])["reconstructable"], true);
    let created = json(folder, &["stat", "s", "m"])["created"].as_u64().expect("a time");
    for hours in [3, 20, 50, 80] {
        printed(folder, &["tick", "s", "--now-ms", &(created + hours * 3_600_000).to_string(), "--simulate"]);
    }
    let read = json(folder, &["get", "s", "tuned"]);
    assert_eq!((&read["provenance"]["tier"], &read["provenance"]["depth"]), (&"absent".into(), &1.into()));
    let bound = read["provenance"]["bound"].as_f64().expect("a bound");
    for (at, value) in values(&read).into_iter().enumerate() {
        assert!((value - f64::from((at as f32 * 0.37).sin() + 0.01)).abs() <= bound, "{at}");
    }
    assert!(error(folder, &["rm", "s", "m"]).contains("delete or materialize"));
    assert!(error(folder, &["attach", "s", "tuned", "--remove"]).contains("`tuned` has no data"));
    printed(folder, &["rm", "s", "m", "--materialize"]);
    assert_eq!(json(folder, &["get", "s", "tuned"])["provenance"]["tier"], "hot");
}

#[test]
fn new_ids_are_created_without_data() {
    let folder = folder();
    let folder = folder.path();
    let made = json(folder, &["attach", "s", "half", "--source", "m", "--scale", "0.5"]);
    assert_eq!((&made["created"], &made["base"], &made["provenance"]["depth"]), (&true.into(), &"m".into(), &1.into()));
    npy(folder, "order.npy", &[100], |at| 99.0 - at as f32);
    npy(folder, "matrix.npy", &[3, 100], |at| f32::from(u8::from(at % 101 == 0)));
    let both = ["--permutation", "order.npy", "--projection", "matrix.npy"];
    json(folder, &[&["attach", "s", "three", "--source", "m"][..], &both].concat());
    let rows = json(folder, &["get", "s", "three"]);
    assert_eq!(rows["shape"], serde_json::json!([3, 64]));
    assert_eq!(values(&rows)[..64], values(&json(folder, &["get", "s", "m", "--rows", "99"]))[..]);
    npy(folder, "delta.npy", &[100, 64], |_| 1.0);
    printed(folder, &["attach", "s", "more", "--base", "m", "--delta", "delta.npy"]);
    printed(folder, &["attach", "s", "wanted", "--base", "m", "--wanted", "m.npy"]);
    // Frames are reconstructed from the frames of their base.
    npy(folder, "double.npy", &[50, 20], |at| 2.0 * (290.0 + (at as f32 * 0.01).sin()));
    printed(folder, &["append", "s", "double", "double.npy"]);
    printed(folder, &["attach", "s", "double", "--source", "room", "--scale", "2"]);
    printed(folder, &["attach", "s", "double", "--remove"]);
    assert_eq!(json(folder, &["stat", "s", "double"])["reconstructable"], false);
}

#[test]
fn reconstructions_that_cannot_be_are_refused() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "bad.npy", &[100], |at| at as f32 + 0.5);
    for (arguments, expected) in [
        (&["x", "--base", "m"][..], "`x` does not exist; give its values with --wanted"),
        (&["x", "--base", "none", "--delta", "v.npy"], "unknown tensor id `none`"),
        (&["x", "--base", "m", "--delta", "v.npy"], "6400"),
        (&["m", "--base", "m"], "`m`"),
        (&["m"], "--base"),
        (&["m", "--base", "in/v", "--remove"], "cannot be used with"),
        (&["m", "--source", "in/v", "--delta", "v.npy"], "cannot be used with"),
        (&["m", "--base", "in/v", "--scale", "2"], "cannot be used with"),
        (&["m", "--remove", "--scale", "2"], "cannot be used with"),
        (&["x", "--source", "m", "--scale", "inf"], "scale"),
        (&["x", "--source", "m", "--permutation", "bad.npy"], "position 0 (0-based) is `0.5`"),
        (&["x", "--source", "m", "--permutation", "v.npy"], "is `"),
        (&["x", "--source", "m", "--projection", "v.npy"], "a projection needs 2 axes, the tensor has 1"),
        (&["x", "--source", "m", "--projection", "frames.npy"], "100"),
        (&["x", "--source", "room"], "`room` is temporal"),
        (&["room", "--base", "m"], "give the delta to `m` itself"),
        (&["room", "--base", "m", "--delta", "m.npy"], "6400"),
    ] {
        let said = error(folder, &[&["attach", "s"][..], arguments].concat());
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert!(error(folder, &["tick", "s", "--residency", "-1"]).contains("invalid residency `-1`"));
}

#[test]
fn a_budget_without_residency_lowers_new_data() {
    let folder = folder();
    let folder = folder.path();
    let moves = |more: &[&str]| {
        let plan = json(folder, &[&["tick", "s", "--dry-run", "--policy", "budget:1"][..], more].concat());
        plan["moves"].as_array().expect("moves").len()
    };
    assert_eq!(moves(&[]), 0);
    // Frames of 20 values are left alone: their heads would grow by more than their values shrink.
    assert_eq!(moves(&["--residency", "0"]), 2);
}
