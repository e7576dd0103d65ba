//! Invalid input.

use std::fs;

use super::{bitgrain, error, folder, json, npy, printed, segments};

#[test]
fn invalid_input_is_rejected_with_a_reason() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "nan.npy", &[3], |at| if at == 1 { f32::NAN } else { 1.0 });
    assert!(error(folder, &["put", "s", "n", "nan.npy"]).contains("index 1 is NaN"));
    let said = error(folder, &["put", "s", "n", "nan.npy", "--lossless"]);
    assert!(said.contains("only finite values, even with --lossless"), "{said}");
    printed(folder, &["put", "s", "n", "nan.npy", "--non-finite", "zero"]);
    assert!(error(folder, &["get", "s", "nothing"]).contains("unknown tensor id `nothing`"));
    assert!(error(folder, &["put", "s", "", "v.npy"]).contains("at least one character"));
    assert!(error(folder, &["append", "s", "room", "v.npy", "--one"]).contains("frames of this tensor have 20 values"));
    assert!(error(folder, &["get", "s", "m", "--rows", "90..200"]).contains("100"));
    assert!(error(folder, &["rm", "s", "m", "nothing"]).contains("nothing"));
    printed(folder, &["get", "s", "m"]);
    assert!(error(folder, &["tick", "s", "--now-ms", "99999999999999"]).contains("time out of range"));
}

#[test]
fn both_spellings_of_materialize_are_accepted() {
    for option in ["--materialize", "--materialise"] {
        let folder = folder();
        printed(folder.path(), &["rm", "s", "m", option]);
    }
}

#[test]
fn other_folders_are_left_unchanged() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("photos")).expect("made");
    fs::write(folder.join("photos/a.jpg"), "not ours").expect("written");
    for place in ["elsewhere", "photos", "m.npy"] {
        for arguments in [
            &["get", place, "m"][..],
            &["put", place, "m", "m.npy"],
            &["verify", place],
            &["ls", place],
            &["tick", place],
        ] {
            assert!(error(folder, arguments).contains(place), "{arguments:?}");
        }
        assert!(error(folder, &["salvage", place, "new"]).contains("no store"), "{place}");
    }
    assert!(!folder.join("elsewhere").exists() && !folder.join("new").exists());
    assert_eq!(fs::read_dir(folder.join("photos")).expect("a folder").count(), 1);
    assert!(error(folder, &["put", "s", "x", "photos/a.jpg"]).contains("a.jpg"));
    assert!(error(folder, &["put", "s", "x", "missing.npy"]).contains("missing.npy"));
    assert!(error(folder, &["init", "m.npy"]).contains("m.npy"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let folder = folder.path();
    let allow = |mode| {
        fs::set_permissions(folder.join("s"), fs::Permissions::from_mode(mode)).expect("ours");
        for entry in fs::read_dir(folder.join("s")).expect("a folder").flatten() {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode & 0o666)).expect("ours");
        }
    };
    allow(0o555);
    // Permissions do not restrict root.
    let free = fs::write(folder.join("s/probe"), "x").is_ok();
    if !free {
        for arguments in
            [&["get", "s", "m"][..], &["ls", "s"], &["stat", "s"], &["verify", "s"], &["tick", "s", "--dry-run"]]
        {
            printed(folder, arguments);
        }
        assert!(error(folder, &["put", "s", "x", "v.npy"]).contains("no permission"));
    }
    allow(0o755);
}

#[test]
fn a_newer_file_version_is_reported() {
    let folder = folder();
    let folder = folder.path();
    let path = segments(&folder.join("s")).remove(0);
    let mut bytes = fs::read(&path).expect("there");
    bytes[8] = 99; // the version
    fs::write(&path, bytes).expect("written");
    let output = bitgrain(folder, &["verify", "s"]);
    // A changed version is reported as such or as damage, depending on whether a checksum covers it.
    assert!(matches!(output.status.code(), Some(1 | 2)));
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("segment-"), "{said}");
    assert_eq!(json(folder, &["init", "t"])["created"], true);
}
